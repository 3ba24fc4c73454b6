/* Continues a job that has not ended: restarts failed replicas, creates missing objects, deletes
 * superfluous ones. Pure; part of the reconcile. The counts of restarts are put into the plan as
 * annotations, which the controller writes before it creates or deletes objects. */
#include "operator/reconcile/reconcile_internal.h"

#include "operator/reconcile/conditions.h"
#include "operator/reconcile/gang.h"
#include "operator/reconcile/pod_template.h"
#include "operator/reconcile/restarts.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>

/* A pod that still exists this long after its deletion was due is deleted by force, because its
 * node counts as dead. */
enum { OVERDUE_MS = 60 * 1000 };

static void delete_replica_pod(struct training_pass *pass, const struct training_replica *replica)
{
    if (replica->has_pod && replica->pod.deleting_ms == 0)
        training_plan_delete(pass->plan, TRAINING_DELETE_POD, replica->pod.json, false);
}

/* Restarts all other replicas after a failed replica was restarted, also finished ones. Called only
 * for jobs whose replicas restart together (restart_together). */
static void restart_other_replicas(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        struct training_replica *replica = &pass->replicas.items[i];

        replica->finished = false;
        /* Vanished pods are marked too, so that they do not count as lost in the next pass. */
        if (!replica->pod.json || replica->state == TRAINING_REPLICA_BLOCKED ||
            training_replica_is_handled(replica))
            continue;
        training_replica_mark_deleted(replica);
        delete_replica_pod(pass, replica);
    }
}

/* Restarts the replicas that training_replica_judge() wants restarted. Returns the type of the
 * first one, or -1 if there is none. */
static int restart_replicas(struct training_pass *pass)
{
    int first_type = -1;

    for (size_t i = 0; i < pass->replicas.count; i++) {
        struct training_replica *replica = &pass->replicas.items[i];

        /* An earlier pass counted the restart, but did not delete the pod. */
        if (replica->state == TRAINING_REPLICA_LEAVING)
            delete_replica_pod(pass, replica);
        if (training_replica_judge(replica, pass->job.replicas[replica->type].restart_policy) !=
            TRAINING_VERDICT_RESTART)
            continue;
        if (first_type >= 0 && pass->job.restart_together)
            continue;
        if (first_type < 0)
            first_type = (int)replica->type;
        training_pass_report_exit(pass, replica);
        training_replica_count_restart(replica);
        delete_replica_pod(pass, replica);
    }
    if (first_type >= 0 && pass->job.restart_together)
        restart_other_replicas(pass);
    return first_type;
}

static void record_finished(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        struct training_replica *replica = &pass->replicas.items[i];

        if (replica->finished || replica->state != TRAINING_REPLICA_SUCCEEDED)
            continue;
        replica->finished = true;
        training_pass_report_exit(pass, replica);
    }
}

/* If the deletion of a pod is overdue, its node counts as dead, and no kubelet will end the pod. */
void training_pass_delete_overdue(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];
        int64_t deleting_ms = kube_meta_deleting_ms(pod);

        if (deleting_ms == 0 || !kube_meta_is_controlled_by(pod, pass->job.uid))
            continue;
        if (pass->now_ms >= deleting_ms + OVERDUE_MS) {
            training_plan_delete(pass->plan, TRAINING_DELETE_POD, pod, true);
            training_plan_requeue(pass->plan, OVERDUE_MS);
        } else {
            training_plan_requeue(pass->plan, deleting_ms + OVERDUE_MS - pass->now_ms);
        }
    }
}

/* Deletes the pods and services of replicas that the spec does not have any more. */
static void delete_surplus(struct training_pass *pass)
{
    const struct training_observed *observed = pass->observed;

    for (size_t i = 0; i < observed->pod_count; i++) {
        const struct json *pod = observed->pods[i];

        if (kube_meta_is_controlled_by(pod, pass->job.uid) && !kube_meta_is_deleting(pod) &&
            !training_replicas_find(&pass->replicas, &pass->job, pod))
            training_plan_delete(pass->plan, TRAINING_DELETE_POD, pod, false);
    }
    for (size_t i = 0; i < observed->service_count; i++) {
        const struct json *service = observed->services[i];

        if (kube_meta_is_controlled_by(service, pass->job.uid) && !kube_meta_is_deleting(service) &&
            !training_replicas_find(&pass->replicas, &pass->job, service))
            training_plan_delete(pass->plan, TRAINING_DELETE_SERVICE, service, false);
    }
}

/* Reports that a name is in use. The job waits, because the owner of the object may be terminating.
 */
static void report_blocked(struct training_pass *pass, const struct json *object, const char *kind,
                           const char *reason)
{
    if (kube_meta_is_deleting(object) || kube_meta_is_controlled_by(object, pass->job.uid))
        return; /* the object is terminating, or is a pod that this plan releases */
    training_plan_event(
        pass->plan, true, reason,
        "Error creating: %s \"%s\" exists and does not belong to this job" TRAINING_NAME_TAKEN,
        kind, kube_meta_name(object))
        ->once = true;
}

static void create_services(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->service_blocked)
            report_blocked(pass, replica->service, "service", "FailedCreateService");
        else if (!replica->service)
            training_plan_create_part(pass->plan, TRAINING_CREATE_SERVICE, replica->type,
                                      replica->index);
    }
}

/* Returns whether a pod that will be replaced still exists. */
static bool has_leaving_pods(const struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->has_pod && training_replica_is_handled(replica))
            return true;
    }
    return false;
}

/* Returns whether a replica that fails repeatedly must wait for its backoff, and reports the wait.
 */
static bool replica_must_wait(struct training_pass *pass, const struct training_replica *replica)
{
    char until[MOMENT_TEXT_MAX];

    if (replica->retry_ms <= pass->now_ms || replica->finished)
        return false;
    moment_format(replica->retry_ms, until);
    training_plan_requeue(pass->plan, replica->retry_ms - pass->now_ms);
    training_plan_event(
        pass->plan, true, "BackOff",
        "Back-off restarting failed %s replica %d: not before %s (%" PRId64 " restarts so far)",
        training_replica_type_name(replica->type), replica->index, until, replica->restarts)
        ->once = true;
    return true;
}

/* Returns whether no pod may be created yet, because replicas that restart together also start
 * together: after the last old pod is gone and the last backoff is over. */
static bool replicas_must_wait(struct training_pass *pass)
{
    bool wait = false;

    if (!pass->job.restart_together)
        return false;
    for (size_t i = 0; i < pass->replicas.count; i++)
        wait |= replica_must_wait(pass, &pass->replicas.items[i]);
    return wait || has_leaving_pods(pass);
}

static void create_pods(struct training_pass *pass)
{
    bool wait = replicas_must_wait(pass);
    bool overridden = false, scheduled_elsewhere = false;

    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->state == TRAINING_REPLICA_BLOCKED)
            report_blocked(pass, replica->pod.json, "pod", "FailedCreatePod");
        if (replica->has_pod || replica->finished || wait || replica_must_wait(pass, replica))
            continue;
        training_plan_create_part(pass->plan, TRAINING_CREATE_POD, replica->type, replica->index);
        if (pass->gang)
            scheduled_elsewhere |=
                training_gang_is_overridden(pass->gang, &pass->job, replica->type);
        overridden |= training_template_sets_restart_policy(&pass->job, replica->type);
    }
    if (overridden)
        training_plan_event(
            pass->plan, true, "SetPodTemplateRestartPolicy",
            "Restart policy in pod template will be overwritten by restart policy in "
            "replica spec")
            ->once = true;
    if (scheduled_elsewhere)
        training_plan_event(pass->plan, true, "SetPodTemplateSchedulerName",
                            "Another scheduler is specified when gang-scheduling is enabled and it "
                            "will not be overwritten")
            ->once = true;
}

/* Sets plan->builder, with a copy of the job and its assigned ports. */
static void set_builder(struct training_pass *pass)
{
    struct training_builder *builder = ARENA_NEW(pass->arena, struct training_builder);
    struct training_job *job = ARENA_NEW(pass->arena, struct training_job);

    *job = pass->job;
    *builder = (struct training_builder){
        .job = job, .gang = pass->gang, .cluster_domain = pass->observed->cluster_domain};
    pass->plan->builder = builder;
}

static void set_running(struct training_pass *pass)
{
    const struct training_messages *messages = &pass->job.kind->messages;
    bool with_chief = training_job_has_chief(&pass->job);

    training_condition_set(pass->arena, pass->status, TRAINING_RUNNING, true,
                           training_pass_reason(pass, "Running"),
                           training_pass_message(pass, with_chief || !messages->workers_running
                                                           ? messages->running
                                                           : messages->workers_running),
                           pass->now_ms);
}

/* Sets the condition Restarting, unless training_pass_has_no_replicas() is true. Returns the
 * message of the condition in both cases. */
static const char *note_restarting(struct training_pass *pass, enum training_replica_type type)
{
    const char *message =
        training_job_message(pass->arena, &pass->job, pass->job.kind->messages.restarting, type, 1);

    if (!training_pass_has_no_replicas(pass))
        training_condition_set(pass->arena, pass->status, TRAINING_RESTARTING, true,
                               training_pass_reason(pass, "Restarting"), message, pass->now_ms);
    return message;
}

static void set_restarting(struct training_pass *pass, enum training_replica_type type)
{
    training_plan_event(pass->plan, true, training_pass_reason(pass, "Restarting"), "%s",
                        note_restarting(pass, type));
}

/* Sets the condition Restarting if the job is not running any more and a replica waits for its
 * backoff. */
static void note_backoff(struct training_pass *pass)
{
    if (training_pass_is_running(pass) ||
        !training_condition_is_true(pass->status, TRAINING_RUNNING))
        return;
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->retry_ms > pass->now_ms && !replica->has_pod && !replica->finished) {
            note_restarting(pass, replica->type);
            return;
        }
    }
}

/* Finds a replica whose restart was counted although the status still has Running, because an
 * earlier pass could not write the status. Returns the type of the replica, or -1 if there is none.
 */
static int interrupted_restart(const struct training_pass *pass)
{
    if (!training_condition_is_true(pass->status, TRAINING_RUNNING))
        return -1;
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->restarts > 0 && training_replica_is_handled(replica))
            return (int)replica->type;
    }
    return -1;
}

void training_pass_continue(struct training_pass *pass)
{
    /* Nothing is created or counted before all objects of the job are adopted. */
    if (training_pass_adopt(pass))
        return;
    record_finished(pass);
    int restarted_type = restart_replicas(pass);
    if (restarted_type < 0)
        restarted_type = interrupted_restart(pass);
    training_pass_delete_overdue(pass);
    delete_surplus(pass);
    training_pass_keep_group(pass);
    if (!training_pass_waits_for_group(pass) && training_pass_assign_ports(pass)) {
        set_builder(pass);
        create_services(pass);
        create_pods(pass);
    }
    training_restarts_write(&pass->replicas, &pass->job, pass->observed, pass->plan);

    training_pass_note_waiting(pass);
    if (restarted_type >= 0)
        set_restarting(pass, (enum training_replica_type)restarted_type);
    else if (training_pass_is_running(pass) && !has_leaving_pods(pass))
        set_running(pass);
    else
        note_backoff(pass);
}

/* Handles jobs that do not run. Finished jobs are cleaned up, and deleted after their time to live.
 * The pods of suspended jobs are deleted. Pure; part of the reconcile. These functions never create
 * pods. */
#include "operator/reconcile/reconcile_internal.h"

#include "operator/reconcile/autoscaler.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/restarts.h"

#include "base/str.h"
#include "kube/object.h"

static void delete_pod(struct training_pass *pass, const struct json *pod)
{
    if (!kube_meta_is_deleting(pod))
        training_plan_delete(pass->plan, TRAINING_DELETE_POD, pod, false);
}

static bool teardown_is_controlled(const struct training_pass *pass, const struct json *object)
{
    return kube_meta_is_controlled_by(object, pass->job.uid);
}

static bool pod_is_kept(const struct training_pass *pass, const struct json *json,
                        enum training_clean_policy policy)
{
    struct training_pod pod;

    training_pod_read(pass->job.kind, json, &pod);
    switch (policy) {
    case TRAINING_CLEAN_NONE:
        return true;
    case TRAINING_CLEAN_RUNNING:
        return pod.phase == TRAINING_POD_SUCCEEDED || pod.phase == TRAINING_POD_FAILED;
    case TRAINING_CLEAN_ALL:
        break;
    }
    return false;
}

/* A service is kept as long as its pod. */
static bool service_is_kept(const struct training_pass *pass, const struct json *service,
                            enum training_clean_policy policy)
{
    if (policy == TRAINING_CLEAN_NONE)
        return true;
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];

        if (str_eq(kube_meta_name(pod), kube_meta_name(service)) &&
            teardown_is_controlled(pass, pod))
            return pod_is_kept(pass, pod, policy);
    }
    return false;
}

static void clean_up(struct training_pass *pass, enum training_clean_policy policy)
{
    const struct training_observed *observed = pass->observed;

    for (size_t i = 0; i < observed->pod_count; i++) {
        if (teardown_is_controlled(pass, observed->pods[i]) &&
            !pod_is_kept(pass, observed->pods[i], policy))
            delete_pod(pass, observed->pods[i]);
    }
    for (size_t i = 0; i < observed->service_count; i++) {
        const struct json *service = observed->services[i];

        if (teardown_is_controlled(pass, service) && !kube_meta_is_deleting(service) &&
            !service_is_kept(pass, service, policy))
            training_plan_delete(pass->plan, TRAINING_DELETE_SERVICE, service, false);
    }
}

/* Sets the counts of a finished job. If the job failed, only pods that still run count as active.
 * If it succeeded, active replicas count as succeeded. */
static void set_final_counts(struct training_pass *pass)
{
    bool succeeded = training_condition_is_true(pass->status, TRAINING_SUCCEEDED);

    JSON_EACH (counts, json_get(pass->status, "replicaStatuses")) {
        int64_t active = json_get_int(counts, "active", 0), running = 0;
        enum training_replica_type type;

        if (counts->type != JSON_OBJECT || active == 0 ||
            !training_replica_type_parse(pass->job.kind, counts->name, &type))
            continue;
        if (!succeeded) {
            running = training_replicas_count(&pass->replicas, type).active;
        } else {
            json_set_int(pass->arena, counts, "succeeded",
                         json_get_int(counts, "succeeded", 0) + active);
        }
        if (running == 0)
            json_remove(counts, "active");
        else if (running < active)
            json_set_int(pass->arena, counts, "active", running);
    }
}

/* Deletes the job after its time to live. A suspended job is not deleted. */
static void teardown_expire(struct training_pass *pass)
{
    int64_t completed_ms = training_pass_time(pass, "completionTime");

    if (completed_ms < 0) {
        training_pass_set_time(pass, "completionTime");
        completed_ms = pass->now_ms;
    }
    if (pass->job.ttl_seconds < 0 || pass->job.suspend)
        return;
    int64_t left_ms = completed_ms + pass->job.ttl_seconds * 1000 - pass->now_ms;
    if (left_ms <= 0)
        training_plan_delete(pass->plan, TRAINING_DELETE_JOB, pass->job.json, false);
    else
        training_plan_requeue(pass->plan, left_ms);
}

/* Deletes the autoscaler, because the job has no replicas left to scale. */
static void drop_autoscaler(struct training_pass *pass)
{
    pass->plan->delete_autoscaler = training_autoscaler_new(pass->arena, &pass->job) != NULL;
}

void training_pass_finished(struct training_pass *pass)
{
    enum training_clean_policy policy = pass->job.clean_policy;

    /* A job that exceeded a limit or became invalid must not continue, even if cleanPodPolicy is
     * None. */
    if (policy == TRAINING_CLEAN_NONE && training_pass_was_stopped(pass))
        policy = TRAINING_CLEAN_RUNNING;
    clean_up(pass, policy);
    training_pass_delete_overdue(pass);
    drop_autoscaler(pass);
    training_pass_release_ports(pass);
    training_pass_drop_group(pass);
    set_final_counts(pass);
    teardown_expire(pass);
}

/* Counts pods that still run as active, although they are being deleted. A suspended job stays
 * active until its last pod has ended, because only then may a queue give its resources to another
 * job. */
static void count_running_pods(struct training_pass *pass)
{
    JSON_EACH (counts, json_get(pass->status, "replicaStatuses")) {
        enum training_replica_type type;
        int64_t running = 0;

        if (counts->type != JSON_OBJECT ||
            !training_replica_type_parse(pass->job.kind, counts->name, &type))
            continue;
        for (size_t i = 0; i < pass->replicas.count; i++) {
            const struct training_replica *replica = &pass->replicas.items[i];

            running += replica->type == type && replica->has_pod &&
                       replica->state != TRAINING_REPLICA_BLOCKED &&
                       replica->pod.phase == TRAINING_POD_RUNNING;
        }
        json_remove(counts, "active");
        if (running > 0)
            json_set_int(pass->arena, counts, "active", running);
    }
}

void training_pass_suspended(struct training_pass *pass)
{
    const char *reason = training_pass_reason(pass, "Suspended");
    const char *message = training_pass_message(pass, pass->job.kind->messages.suspended);

    clean_up(pass, TRAINING_CLEAN_ALL);
    training_pass_delete_overdue(pass);
    drop_autoscaler(pass);
    training_pass_release_ports(pass);
    training_pass_drop_group(pass);
    count_running_pods(pass);
    if (training_condition_is_true(pass->status, TRAINING_RUNNING))
        training_condition_set(pass->arena, pass->status, TRAINING_RUNNING, false, reason, message,
                               pass->now_ms);
    training_pass_set_condition(pass, TRAINING_SUSPENDED, true, reason, message);

    for (size_t i = 0; i < pass->replicas.count; i++) {
        struct training_replica *replica = &pass->replicas.items[i];

        /* All replicas start again, because the others would wait for a finished peer. */
        replica->finished = false;
        /* This is recorded in an annotation too, not only in the status. If the user resumes the
         * job at once, the write of the status fails, and the ends of these pods would count as
         * failures. */
        if (replica->has_pod && replica->state != TRAINING_REPLICA_BLOCKED &&
            !training_replica_is_handled(replica))
            training_replica_mark_deleted(replica);
    }
    training_restarts_write(&pass->replicas, &pass->job, pass->observed, pass->plan);
}

bool training_pass_resume(struct training_pass *pass)
{
    bool empty = true;

    /* Pods from before the suspension do not count as lost for the resumed job. They are deleted
     * first. */
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        if (!teardown_is_controlled(pass, pass->observed->pods[i]))
            continue;
        delete_pod(pass, pass->observed->pods[i]);
        empty = false;
    }
    if (!empty) {
        training_pass_delete_overdue(pass);
        return false;
    }
    training_pass_set_condition(pass, TRAINING_SUSPENDED, false,
                                training_pass_reason(pass, "Resumed"),
                                training_pass_message(pass, pass->job.kind->messages.resumed));
    if (training_pass_waits_for_group(pass))
        json_remove(pass->status, "startTime");
    else
        training_pass_set_time(pass, "startTime");
    return true;
}

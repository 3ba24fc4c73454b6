/* Plans the PodGroup of a job. It is created before the pods, kept up to date, and deleted when the
 * job does not run. This file also decides whether pods must wait for the group, and reports each
 * wait. Pure. */
#include "operator/reconcile/reconcile_internal.h"

#include "operator/reconcile/gang.h"

#include "base/str.h"
#include "kube/object.h"

/* The interval at which a job without PodGroups is reconciled. No event tells when the server gets
 * their definition. */
enum { MISSING_POLL_MS = 5 * 1000 };

static bool group_is_controlled(const struct training_pass *pass, const struct json *object)
{
    return kube_meta_is_controlled_by(object, pass->job.uid);
}

/* Returns whether the job has pods that were created before gang scheduling was enabled. Such a job
 * continues without gang scheduling, because new pods in a group would wait for members that never
 * come. */
static bool has_unmarked_pods(const struct training_pass *pass, const struct training_gang *gang)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];

        if (group_is_controlled(pass, pod) && !training_gang_has_marked(gang, &pass->job, pod))
            return true;
    }
    return false;
}

static bool is_living(const struct training_replica *replica)
{
    return replica->state == TRAINING_REPLICA_PENDING || replica->state == TRAINING_REPLICA_ACTIVE;
}

/* Returns whether there are live pods, and all of them were marked for another gang than the
 * operator's, because the operator was restarted with another setting. Sets pass->other_gang_pod to
 * the first live pod with another mark, and *ret to its gang, even if only some pods have one. */
static bool find_other_gang(struct training_pass *pass, struct training_gang *ret)
{
    const struct training_gang *configured = pass->observed->gang;
    bool all = true;

    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];
        struct training_gang gang;

        if (!is_living(replica))
            continue;
        if (!training_gang_of_pod(&pass->job, replica->pod.json, &gang) ||
            (configured && training_gang_is_same(configured, &gang, &pass->job, replica->type))) {
            all = false;
        } else if (!pass->other_gang_pod) {
            pass->other_gang_pod = replica->pod.json;
            *ret = gang;
        }
    }
    return all && pass->other_gang_pod;
}

/* Chooses the gang of the job. The mark on live pods decides, because members of a group wait for
 * each other, and new pods must join the same group. The operator's own setting applies to jobs
 * without live pods. */
void training_pass_find_gang(struct training_pass *pass)
{
    const struct training_gang *configured = pass->observed->gang;
    struct training_gang *found = ARENA_NEW(pass->arena, struct training_gang);

    if (pass->replicas.count == 0)
        return;
    if (find_other_gang(pass, found)) {
        pass->gang = found;
        pass->keeps_group = configured && configured->resource == found->resource;
        found->missing = pass->keeps_group ? configured->missing : NULL;
    } else if (configured && !has_unmarked_pods(pass, configured)) {
        pass->gang = configured;
        pass->keeps_group = true;
    }
}

static bool has_pods(const struct training_pass *pass)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        if (group_is_controlled(pass, pass->observed->pods[i]))
            return true;
    }
    return false;
}

bool training_pass_waits_for_group(const struct training_pass *pass)
{
    const struct json *group = pass->observed->pod_group;

    if (!pass->keeps_group)
        return false;
    if (pass->gang->missing)
        return true;
    if (!group)
        return pass->gang->admits_first;
    if (!group_is_controlled(pass, group) || kube_meta_is_deleting(group))
        return true;
    /* A started job keeps its pods, even if the group's phase goes back because one of its pods is
     * being replaced. */
    return !training_gang_group_is_admitted(pass->gang, group) && !has_pods(pass);
}

static void report_missing(struct training_pass *pass)
{
    training_plan_event(pass->plan, true, "PodGroupsMissing",
                        "the scheduler %s must start the pods of this job together, but %s; no pod "
                        "is created until PodGroups are available",
                        pass->gang->scheduler, pass->gang->missing)
        ->once = true;
    training_plan_requeue(pass->plan, MISSING_POLL_MS);
}

static void report_foreign_group(struct training_pass *pass, const struct json *group)
{
    if (kube_meta_is_deleting(group))
        return;
    training_plan_event(pass->plan, true, "FailedCreatePodGroup",
                        "Error creating: PodGroup \"%s\" exists and does not belong to this "
                        "job" TRAINING_NAME_TAKEN,
                        pass->job.name)
        ->once = true;
}

static void report_waiting(struct training_pass *pass, const struct json *group)
{
    const char *phase = json_get_string(json_get(group, "status"), "phase", "");

    training_plan_event(
        pass->plan, false, "WaitingForPodGroup",
        "no pod is created before %s admits PodGroup %s to queue %s; the PodGroup's phase is %s",
        pass->gang->scheduler, pass->job.name,
        json_get_string(json_get(group, "spec"), "queue", "default"),
        str_is_empty(phase) ? "not set yet" : phase)
        ->once = true;
}

/* Reports that the job started with another gang scheduler than the operator has now. */
static void report_other_gang(struct training_pass *pass)
{
    const struct training_gang *configured = pass->observed->gang;
    struct training_gang gang = {0};

    training_gang_of_pod(&pass->job, pass->other_gang_pod, &gang);
    training_plan_event(
        pass->plan, true, "GangSchedulerChanged",
        "the scheduler %s starts pods of this job together, as PodGroup %s, but the operator was "
        "started with %s%s: %s, %s; to use the operator's setting, suspend and resume the job; to "
        "keep the scheduler of the job, start the operator with --gang-scheduler-name %s",
        gang.scheduler, pass->job.name,
        configured ? "--gang-scheduler-name " : "no --gang-scheduler-name",
        configured ? configured->scheduler : "",
        pass->gang && pass->gang != configured ? "new pods join the PodGroup"
                                               : "new pods do not join the PodGroup",
        pass->keeps_group && pass->gang != configured ? "and it is kept"
                                                      : "and it is not changed any more",
        gang.admits_first ? TRAINING_VOLCANO : gang.scheduler)
        ->once = true;
}

static void report_min_available(struct training_pass *pass)
{
    if (pass->job.scheduling.min_available <= (int64_t)pass->replicas.count)
        return;
    training_plan_event(
        pass->plan, true, "MinAvailableTooLarge",
        "spec.runPolicy.schedulingPolicy.minAvailable is %d, but the job's number of pods is %zu: "
        "the job cannot start until minAvailable is lowered or replicas are added",
        (int)pass->job.scheduling.min_available, pass->replicas.count)
        ->once = true;
}

void training_pass_keep_group(struct training_pass *pass)
{
    const struct json *group = pass->observed->pod_group;

    if (pass->other_gang_pod)
        report_other_gang(pass);
    if (!pass->keeps_group)
        return;
    if (pass->gang->missing) {
        report_missing(pass);
        return;
    }
    report_min_available(pass);
    if (!group) {
        training_plan_add(pass->plan, TRAINING_CREATE_POD_GROUP,
                          training_gang_group_new(pass->arena, pass->gang, &pass->job,
                                                  &pass->replicas, pass->now_ms));
        return;
    }
    if (!group_is_controlled(pass, group)) {
        report_foreign_group(pass, group);
        return;
    }
    if (kube_meta_is_deleting(group))
        return;
    struct json *patch = training_gang_group_patch(pass->arena, pass->gang, &pass->job,
                                                   &pass->replicas, pass->now_ms, group);
    if (patch)
        training_plan_add(pass->plan, TRAINING_UPDATE_POD_GROUP, patch);
    if (training_pass_waits_for_group(pass))
        report_waiting(pass, group);
}

void training_pass_drop_group(struct training_pass *pass)
{
    const struct json *group = pass->observed->pod_group;

    if (!group || !group_is_controlled(pass, group) || kube_meta_is_deleting(group))
        return;
    training_plan_event(pass->plan, false, "JobTerminated",
                        "Job has been terminated. Deleting PodGroup");
    training_plan_delete(pass->plan, TRAINING_DELETE_POD_GROUP, group, false);
}

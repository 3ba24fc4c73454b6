/* Jobs that shall not run: finished ones are cleaned up and in time removed, suspended ones lose
 * their pods until they may go on. Pure; parts of the reconcile. Nothing here makes a pod. */
#include "operator/reconcile_internal.h"

#include "operator/conditions.h"
#include "operator/restarts.h"

#include "base/str.h"
#include "kube/object.h"

static void delete_pod(struct tfjob_pass *pass, const struct json *pod)
{
    if (!kube_meta_is_deleting(pod))
        tfjob_plan_delete(pass->plan, TFJOB_DELETE_POD, pod, false);
}

static bool is_ours(const struct tfjob_pass *pass, const struct json *object)
{
    return kube_meta_is_controlled_by(object, pass->job.uid);
}

static bool pod_is_kept(const struct json *json, enum tfjob_clean_policy policy)
{
    struct tfjob_pod pod;

    tfjob_pod_read(json, &pod);
    switch (policy) {
    case TFJOB_CLEAN_NONE:
        return true;
    case TFJOB_CLEAN_RUNNING:
        return pod.phase == TFJOB_POD_SUCCEEDED || pod.phase == TFJOB_POD_FAILED;
    case TFJOB_CLEAN_ALL:
        break;
    }
    return false;
}

/* A service stays as long as the pod it is the name of. */
static bool service_is_kept(const struct tfjob_pass *pass, const struct json *service,
                            enum tfjob_clean_policy policy)
{
    if (policy == TFJOB_CLEAN_NONE)
        return true;
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];

        if (str_eq(kube_meta_name(pod), kube_meta_name(service)) && is_ours(pass, pod))
            return pod_is_kept(pod, policy);
    }
    return false;
}

static void clean_up(struct tfjob_pass *pass, enum tfjob_clean_policy policy)
{
    const struct tfjob_observed *observed = pass->observed;

    for (size_t i = 0; i < observed->pod_count; i++) {
        if (is_ours(pass, observed->pods[i]) && !pod_is_kept(observed->pods[i], policy))
            delete_pod(pass, observed->pods[i]);
    }
    for (size_t i = 0; i < observed->service_count; i++) {
        const struct json *service = observed->services[i];

        if (is_ours(pass, service) && !kube_meta_is_deleting(service) &&
            !service_is_kept(pass, service, policy))
            tfjob_plan_delete(pass->plan, TFJOB_DELETE_SERVICE, service, false);
    }
}

/* A finished job has nothing active but what still runs; on success that counts as succeeded. */
static void settle_counts(struct tfjob_pass *pass)
{
    bool succeeded = tfjob_condition_is_true(pass->status, TFJOB_SUCCEEDED);

    JSON_EACH (counts, json_get(pass->status, "replicaStatuses")) {
        int64_t active = json_get_int(counts, "active", 0), running = 0;
        enum tfjob_replica_type type;

        if (counts->type != JSON_OBJECT || active == 0 ||
            !tfjob_replica_type_parse(counts->name, &type))
            continue;
        if (!succeeded) {
            running = tfjob_replicas_count(&pass->replicas, type).active;
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

static void expire(struct tfjob_pass *pass)
{
    int64_t completed_ms = tfjob_pass_time(pass, "completionTime");
    int64_t left_ms;

    if (completed_ms < 0) {
        tfjob_pass_set_time(pass, "completionTime");
        completed_ms = pass->now_ms;
    }
    if (pass->job.ttl_seconds < 0 || pass->job.suspend)
        return;
    left_ms = completed_ms + pass->job.ttl_seconds * 1000 - pass->now_ms;
    if (left_ms <= 0)
        tfjob_plan_delete(pass->plan, TFJOB_DELETE_JOB, pass->job.json, false);
    else
        tfjob_plan_requeue(pass->plan, left_ms);
}

void tfjob_pass_finished(struct tfjob_pass *pass)
{
    enum tfjob_clean_policy policy = pass->job.clean_policy;

    /* A job stopped by a limit must stop, whatever is kept of it. */
    if (policy == TFJOB_CLEAN_NONE && tfjob_pass_failed_by_limit(pass))
        policy = TFJOB_CLEAN_RUNNING;
    clean_up(pass, policy);
    settle_counts(pass);
    expire(pass);
}

void tfjob_pass_suspended(struct tfjob_pass *pass)
{
    const char *message = arena_printf(pass->arena, "TFJob %s is suspended.", pass->job.name);

    clean_up(pass, TFJOB_CLEAN_ALL);
    JSON_EACH (counts, json_get(pass->status, "replicaStatuses"))
        json_remove(counts, "active");
    if (tfjob_condition_is_true(pass->status, TFJOB_RUNNING))
        tfjob_condition_set(pass->arena, pass->status, TFJOB_RUNNING, false, "TFJobSuspended",
                            message, pass->now_ms);
    tfjob_pass_set_condition(pass, TFJOB_SUSPENDED, true, "TFJobSuspended", message);

    /* It starts anew as a whole: a peer that had finished would be missed by the others. */
    for (size_t i = 0; i < pass->replicas.count; i++)
        pass->replicas.items[i].finished = false;
    tfjob_memory_write(&pass->replicas, &pass->job, pass->plan);
}

bool tfjob_pass_resume(struct tfjob_pass *pass)
{
    bool empty = true;

    /* Pods of before the suspension are no losses of the job that starts now; they go first. */
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        if (!is_ours(pass, pass->observed->pods[i]))
            continue;
        delete_pod(pass, pass->observed->pods[i]);
        empty = false;
    }
    if (!empty)
        return false;
    tfjob_pass_set_condition(pass, TFJOB_SUSPENDED, false, "TFJobResumed",
                             arena_printf(pass->arena, "TFJob %s is resumed.", pass->job.name));
    tfjob_pass_set_time(pass, "startTime");
    return true;
}

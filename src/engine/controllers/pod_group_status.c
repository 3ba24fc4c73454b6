/* Computes the status of a PodGroup; see pod_group_status.h. */
#include "engine/controllers/pod_group_status.h"

#include "base/moment.h"
#include "base/str.h"
#include "engine/scheduler/gang.h"
#include "kube/object.h"

struct counts {
    size_t members;   /* pods that have not failed and are not being deleted */
    size_t scheduled; /* pods that have a node and have not failed */
    size_t running, succeeded, failed;
};

static struct counts count_pods(const struct json *const *pods, size_t count)
{
    struct counts counts = {0};
    for (size_t i = 0; i < count; i++) {
        const char *phase = json_get_string(json_get(pods[i], "status"), "phase", "");
        bool bound = !str_is_empty(json_get_string(json_get(pods[i], "spec"), "nodeName", ""));
        counts.scheduled += bound && !str_eq(phase, "Failed");
        counts.running += str_eq(phase, "Running");
        counts.succeeded += str_eq(phase, "Succeeded");
        counts.failed += str_eq(phase, "Failed");
        counts.members += !str_eq(phase, "Failed") && !kube_meta_is_deleting(pods[i]);
    }
    return counts;
}

static const char *pod_group_phase_of(const struct counts *counts, size_t min_member)
{
    size_t alive = counts->running + counts->succeeded;
    if (counts->succeeded >= min_member)
        return "Finished";
    if (counts->failed > 0 && counts->failed + alive >= min_member)
        return "Failed";
    if (alive >= min_member)
        return "Running";
    if (counts->scheduled >= min_member)
        return "Scheduled";
    return counts->members >= min_member ? "Scheduling" : "Pending";
}

/* Returns the controller of the first pod that has one, as "namespace/name", or NULL. */
static const char *pod_group_occupant(struct arena *arena, const struct json *const *pods,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        JSON_EACH (owner, json_at(pods[i], "metadata", "ownerReferences", NULL)) {
            if (json_get_bool(owner, "controller", false))
                return arena_printf(arena, "%s/%s", kube_meta_namespace(pods[i]),
                                    json_get_string(owner, "name", ""));
        }
    }
    return NULL;
}

static bool pod_group_has_ended(const struct json *status)
{
    const char *phase = json_get_string(status, "phase", "");
    return str_eq(phase, "Finished") || str_eq(phase, "Failed");
}

struct json *pod_group_status(struct arena *arena, const struct json *group,
                              const struct json *const *pods, size_t count, int64_t now_ms)
{
    const struct json *old = json_get(group, "status");
    struct json *status = json_clone_object(arena, old);
    if (count == 0 && pod_group_has_ended(old))
        return status;
    struct counts counts = count_pods(pods, count);
    const char *phase = pod_group_phase_of(&counts, scheduler_gang_min_member(group));
    const char *owner = pod_group_occupant(arena, pods, count);
    json_set_string(arena, status, "phase", phase);
    if (owner)
        json_set_string(arena, status, "occupiedBy", owner);
    json_set_int(arena, status, "scheduled", (int64_t)counts.scheduled);
    json_set_int(arena, status, "running", (int64_t)counts.running);
    json_set_int(arena, status, "succeeded", (int64_t)counts.succeeded);
    json_set_int(arena, status, "failed", (int64_t)counts.failed);
    if (!str_eq(phase, "Pending") && !json_get(status, "scheduleStartTime")) {
        char now[MOMENT_TEXT_MAX];
        moment_format(now_ms, now);
        json_set_string(arena, status, "scheduleStartTime", now);
    }
    return status;
}

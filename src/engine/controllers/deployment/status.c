/* Computes the status of a deployment: the numbers of pods, whether enough are available, and
 * whether the rollout progresses, is complete or has timed out. Pure. */
#include "base/moment.h"
#include "base/str.h"
#include "engine/controllers/deployment/internal.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <string.h>

/* ---- Conditions ------------------------------------------------------------------------------ */

static void status_drop_condition(struct json *status, const char *type)
{
    struct json *condition = kube_condition_find(json_get(status, "conditions"), type);
    if (condition)
        json_remove_element(json_get(status, "conditions"), condition);
}

/* Writes a condition. A condition with the same status and reason stays as it is, unless `renew` is
 * set. A changed condition moves to the end and keeps lastTransitionTime if its status is the same.
 */
static void status_set_condition(struct arena *arena, struct json *status, const char *type,
                                 const char *value, const char *reason, const char *message,
                                 int64_t now_ms, bool renew)
{
    const struct kube_condition wanted = {.type = type,
                                          .status = value,
                                          .reason = reason,
                                          .message = message,
                                          .time_name = "lastUpdateTime",
                                          .now_ms = now_ms};
    kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &wanted,
                       KUBE_CONDITION_MOVE_LAST | (renew ? 0 : KUBE_CONDITION_KEEP_REASON));
}

/* Adds the condition Progressing if the deployment has none yet. */
void deployment_note_found(struct deployment_pass *pass, struct json *status)
{
    if (pass->deadline_s >= 0 &&
        !kube_condition_find(json_get(status, "conditions"), "Progressing"))
        status_set_condition(
            pass->arena, status, "Progressing", "True", "FoundNewReplicaSet",
            arena_printf(pass->arena, "Found new replica set \"%s\"", pass->new_set->name),
            pass->now_ms, false);
}

void deployment_note_created(struct deployment_pass *pass, struct json *status, const char *name)
{
    if (pass->deadline_s >= 0)
        status_set_condition(pass->arena, status, "Progressing", "True", "NewReplicaSetCreated",
                             arena_printf(pass->arena, "Created new replica set \"%s\"", name),
                             pass->now_ms, false);
}

void deployment_note_failure(struct arena *arena, struct json *status, const char *message,
                             int64_t now_ms)
{
    status_set_condition(arena, status, "Progressing", "False", "ReplicaSetCreateError", message,
                         now_ms, false);
}

void deployment_note_collision(struct arena *arena, struct json *status)
{
    json_set_int(arena, status, "collisionCount", json_get_int(status, "collisionCount", 0) + 1);
}

void deployment_note_paused(struct deployment_pass *pass, struct json *status)
{
    const char *reason = json_get_string(
        kube_condition_find(json_get(status, "conditions"), "Progressing"), "reason", "");
    bool was = str_eq(reason, "DeploymentPaused");
    if (pass->deadline_s < 0 || str_eq(reason, "ProgressDeadlineExceeded") || was == pass->paused)
        return;
    status_set_condition(pass->arena, status, "Progressing", "Unknown",
                         pass->paused ? "DeploymentPaused" : "DeploymentResumed",
                         pass->paused ? "Deployment is paused" : "Deployment is resumed",
                         pass->now_ms, false);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void status_set_number(struct arena *arena, struct json *status, const char *name,
                              int64_t number)
{
    if (number)
        json_set_int(arena, status, name, number);
    else
        json_remove(status, name);
}

void deployment_status(struct deployment_pass *pass, struct json *status)
{
    struct arena *arena = pass->arena;
    int64_t total = 0, ready = 0, available = 0, wanted = 0;
    for (size_t i = 0; i < pass->count; i++) {
        total += pass->sets[i].total;
        ready += pass->sets[i].ready;
        available += pass->sets[i].available;
        wanted += pass->sets[i].wanted;
    }
    status_set_number(arena, status, "observedGeneration", kube_meta_generation(pass->deployment));
    status_set_number(arena, status, "replicas", total);
    status_set_number(arena, status, "updatedReplicas", pass->new_set ? pass->new_set->total : 0);
    status_set_number(arena, status, "readyReplicas", ready);
    status_set_number(arena, status, "availableReplicas", available);
    status_set_number(arena, status, "unavailableReplicas",
                      wanted > available ? wanted - available : 0);
    if (available >= pass->replicas - pass->max_unavailable)
        status_set_condition(arena, status, "Available", "True", "MinimumReplicasAvailable",
                             "Deployment has minimum availability.", pass->now_ms, false);
    else
        status_set_condition(arena, status, "Available", "False", "MinimumReplicasUnavailable",
                             "Deployment does not have minimum availability.", pass->now_ms, false);
}

bool deployment_is_complete(const struct deployment_pass *pass, const struct json *status)
{
    return json_get_int(status, "updatedReplicas", 0) == pass->replicas &&
           json_get_int(status, "replicas", 0) == pass->replicas &&
           json_get_int(status, "availableReplicas", 0) == pass->replicas &&
           json_get_int(status, "observedGeneration", 0) >= kube_meta_generation(pass->deployment);
}

/* ---- Progress -------------------------------------------------------------------------------- */

static bool has_progressed(const struct json *old, const struct json *new_)
{
    int64_t updated = json_get_int(new_, "updatedReplicas", 0);
    int64_t updated_before = json_get_int(old, "updatedReplicas", 0);
    return updated > updated_before ||
           json_get_int(new_, "replicas", 0) - updated <
               json_get_int(old, "replicas", 0) - updated_before ||
           json_get_int(new_, "readyReplicas", 0) > json_get_int(old, "readyReplicas", 0) ||
           json_get_int(new_, "availableReplicas", 0) > json_get_int(old, "availableReplicas", 0);
}

/* Returns when the progress deadline expires; -1: never. */
static int64_t deadline_ms(const struct deployment_pass *pass, const struct json *status)
{
    const struct json *condition =
        kube_condition_find(json_get(status, "conditions"), "Progressing");
    const char *text = json_get_string(condition, "lastUpdateTime", "");
    int64_t since;
    if (!condition || moment_parse(text, &since, NULL) < 0 ||
        str_eq(json_get_string(condition, "reason", ""), "NewReplicaSetAvailable"))
        return -1;
    return moment_after(since, pass->deadline_s);
}

static void status_judge_progress(struct deployment_pass *pass, struct json *status)
{
    struct arena *arena = pass->arena;
    const struct json *old = json_get(pass->deployment, "status");
    const char *reason = json_get_string(
        kube_condition_find(json_get(old, "conditions"), "Progressing"), "reason", "");
    const char *what = pass->new_set ? "ReplicaSet" : "Deployment";
    const char *name = pass->new_set ? pass->new_set->name : kube_meta_name(pass->deployment);
    bool was_complete =
        str_eq(reason, "NewReplicaSetAvailable") &&
        json_get_int(status, "replicas", 0) == json_get_int(status, "updatedReplicas", 0);
    if (was_complete)
        return;
    if (deployment_is_complete(pass, status)) {
        status_set_condition(
            arena, status, "Progressing", "True", "NewReplicaSetAvailable",
            arena_printf(arena, "%s \"%s\" has successfully progressed.", what, name), pass->now_ms,
            false);
        return;
    }
    if (has_progressed(old, status)) {
        status_set_condition(arena, status, "Progressing", "True", "ReplicaSetUpdated",
                             arena_printf(arena, "%s \"%s\" is progressing.", what, name),
                             pass->now_ms, true);
    }
    int64_t late_ms = deadline_ms(pass, status);
    if (late_ms < 0 || str_eq(reason, "ProgressDeadlineExceeded"))
        return;
    if (late_ms < pass->now_ms)
        status_set_condition(
            arena, status, "Progressing", "False", "ProgressDeadlineExceeded",
            arena_printf(arena, "%s \"%s\" has timed out progressing.", what, name), pass->now_ms,
            false);
    else
        pass->plan->requeue_ms = late_ms - pass->now_ms + 1000;
}

/* Returns the condition ReplicaFailure of the new set or, if it has none, of any other set; NULL:
 * none. */
static const struct json *replica_failure(const struct deployment_pass *pass)
{
    const struct json *found =
        pass->new_set ? kube_condition_get(pass->new_set->json, "ReplicaFailure") : NULL;
    for (size_t i = 0; !found && i < pass->count; i++)
        found = kube_condition_get(pass->sets[i].json, "ReplicaFailure");
    return found;
}

void deployment_status_progress(struct deployment_pass *pass, struct json *status)
{
    const struct json *failure = replica_failure(pass);
    if (pass->deadline_s < 0)
        status_drop_condition(status, "Progressing");
    else
        status_judge_progress(pass, status);
    if (failure)
        status_set_condition(pass->arena, status, "ReplicaFailure",
                             json_get_string(failure, "status", "True"),
                             json_get_string(failure, "reason", ""),
                             json_get_string(failure, "message", ""), pass->now_ms, false);
    else
        status_drop_condition(status, "ReplicaFailure");
}

/* Implements the rules of a job's conditions; see conditions.h. The reconcile passes its own copy
 * of the status. Pure. A finished job has exactly one of Succeeded and Failed, and keeps it. */
#include "operator/reconcile/conditions.h"

#include "base/str.h"
#include "kube/condition.h"

const struct json *training_condition_get(const struct json *status, const char *type)
{
    return kube_condition_find(json_get(status, "conditions"), type);
}

bool training_condition_is_true(const struct json *status, const char *type)
{
    const struct json *condition = training_condition_get(status, type);
    return str_eq(json_get_string(condition, "status", NULL), "True");
}

bool training_is_finished(const struct json *status)
{
    return training_condition_is_true(status, TRAINING_SUCCEEDED) ||
           training_condition_is_true(status, TRAINING_FAILED);
}

static void condition_remove(struct json *conditions, const char *type)
{
    struct json *condition = kube_condition_find(conditions, type);
    if (condition)
        json_remove_element(conditions, condition);
}

/* Sets a condition that is "True" to "False" and keeps its reason and message. */
static void condition_end(struct arena *arena, struct json *conditions, const char *type,
                          int64_t now_ms)
{
    struct json *condition = kube_condition_find(conditions, type);
    if (!str_eq(json_get_string(condition, "status", NULL), "True"))
        return;
    const struct kube_condition ended = {.type = type,
                                         .status = "False",
                                         .reason = json_get_string(condition, "reason", NULL),
                                         .message = json_get_string(condition, "message", NULL),
                                         .time_name = "lastUpdateTime",
                                         .now_ms = now_ms};
    kube_condition_set(arena, conditions, &ended, 0);
}

bool training_condition_set(struct arena *arena, struct json *status, const char *type,
                            bool is_true, const char *reason, const char *message, int64_t now_ms)
{
    const struct kube_condition wanted = {.type = type,
                                          .status = is_true ? "True" : "False",
                                          .reason = reason,
                                          .message = message,
                                          .time_name = "lastUpdateTime",
                                          .now_ms = now_ms};
    if (training_is_finished(status))
        return false;
    struct json *conditions = json_ensure_array(arena, status, "conditions");
    if (!kube_condition_set(arena, conditions, &wanted,
                            KUBE_CONDITION_KEEP_REASON | KUBE_CONDITION_MOVE_LAST))
        return false;
    if (str_eq(type, TRAINING_RESTARTING))
        condition_remove(conditions, TRAINING_RUNNING);
    if (str_eq(type, TRAINING_RUNNING))
        condition_remove(conditions, TRAINING_RESTARTING);
    if (is_true && (str_eq(type, TRAINING_SUCCEEDED) || str_eq(type, TRAINING_FAILED))) {
        condition_end(arena, conditions, TRAINING_RUNNING, now_ms);
        condition_end(arena, conditions, TRAINING_RESTARTING, now_ms);
    }
    return true;
}

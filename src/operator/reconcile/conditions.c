/* The rules of the condition list. Called by the reconcile on its own copy of the status; pure. A
 * finished job has exactly one of Succeeded and Failed, and keeps it. */
#include "operator/reconcile/conditions.h"

#include "base/moment.h"
#include "base/str.h"

const struct json *training_condition_get(const struct json *status, const char *type)
{
    JSON_EACH (condition, json_get(status, "conditions")) {
        if (str_eq(json_get_string(condition, "type", NULL), type))
            return condition;
    }
    return NULL;
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

/* Whether a condition of type `old` has no place beside a new one of type `new_`. */
static bool is_replaced_by(const char *old, const char *new_)
{
    return str_eq(old, new_) ||
           (str_eq(old, TRAINING_RUNNING) && str_eq(new_, TRAINING_RESTARTING)) ||
           (str_eq(old, TRAINING_RESTARTING) && str_eq(new_, TRAINING_RUNNING));
}

static void end_activity(struct arena *arena, struct json *condition, const char *now)
{
    const char *type = json_get_string(condition, "type", "");

    if (!str_eq(type, TRAINING_RUNNING) && !str_eq(type, TRAINING_RESTARTING))
        return;
    if (!str_eq(json_get_string(condition, "status", NULL), "True"))
        return;
    json_set_string(arena, condition, "status", "False");
    json_set_string(arena, condition, "lastUpdateTime", now);
    json_set_string(arena, condition, "lastTransitionTime", now);
}

bool training_condition_set(struct arena *arena, struct json *status, const char *type,
                            bool is_true, const char *reason, const char *message, int64_t now_ms)
{
    const struct json *current = training_condition_get(status, type);
    const char *value = is_true ? "True" : "False";
    bool ends = is_true && (str_eq(type, TRAINING_SUCCEEDED) || str_eq(type, TRAINING_FAILED));
    char now[MOMENT_TEXT_MAX];
    const char *transition = now;
    struct json *conditions, *condition;

    if (training_is_finished(status))
        return false;
    if (current && str_eq(json_get_string(current, "status", NULL), value) &&
        str_eq(json_get_string(current, "reason", NULL), reason))
        return false;

    moment_format(now_ms, now);
    if (current && str_eq(json_get_string(current, "status", NULL), value))
        transition = json_get_string(current, "lastTransitionTime", now);

    condition = json_object(arena);
    json_set_string(arena, condition, "type", type);
    json_set_string(arena, condition, "status", value);
    json_set_string(arena, condition, "reason", reason);
    json_set_string(arena, condition, "message", message);
    json_set_string(arena, condition, "lastUpdateTime", now);
    json_set_string(arena, condition, "lastTransitionTime", transition);

    conditions = json_array(arena);
    JSON_EACH (old, json_get(status, "conditions")) {
        if (is_replaced_by(json_get_string(old, "type", ""), type))
            continue;
        struct json *kept = json_clone(arena, old);
        if (ends)
            end_activity(arena, kept, now);
        json_append(conditions, kept);
    }
    json_append(conditions, condition);
    json_set(arena, status, "conditions", conditions);
    return true;
}

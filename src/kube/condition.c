/* Reads and writes the conditions of objects; see condition.h. */
#include "kube/condition.h"

#include "base/moment.h"
#include "base/str.h"

static void condition_set_text(struct arena *arena, struct json *condition, const char *name,
                               const char *text)
{
    if (text)
        json_set_string(arena, condition, name, text);
    else
        json_remove(condition, name);
}

/* Writes the members. A new condition gets them in the order of the Kubernetes types. `since` is
 * the old lastTransitionTime if it stays, else NULL. */
static void condition_write(struct arena *arena, struct json *condition,
                            const struct kube_condition *wanted, const char *since)
{
    char now[MOMENT_TEXT_MAX];
    json_set_string(arena, condition, "type", wanted->type);
    json_set_string(arena, condition, "status", wanted->status);
    if (wanted->now_ms >= 0) {
        moment_format(wanted->now_ms, now);
        if (wanted->time_name)
            json_set_string(arena, condition, wanted->time_name, now);
        json_set_string(arena, condition, "lastTransitionTime", since ? since : now);
    }
    condition_set_text(arena, condition, "reason", wanted->reason);
    condition_set_text(arena, condition, "message", wanted->message);
}

struct json *kube_condition_set(struct arena *arena, struct json *conditions,
                                const struct kube_condition *wanted, unsigned rules)
{
    struct json *condition = kube_condition_find(conditions, wanted->type);
    bool same_status = str_eq(json_get_string(condition, "status", NULL), wanted->status);
    bool same_reason = str_eq(json_get_string(condition, "reason", NULL), wanted->reason);
    if (same_status && ((rules & KUBE_CONDITION_KEEP_STATUS) ||
                        ((rules & KUBE_CONDITION_KEEP_REASON) && same_reason)))
        return NULL;
    const char *since = same_status && !(rules & KUBE_CONDITION_RESET_TRANSITION)
                            ? json_get_string(condition, "lastTransitionTime", NULL)
                            : NULL;
    if (condition && (rules & KUBE_CONDITION_MOVE_LAST)) {
        json_remove_element(conditions, condition);
        condition = NULL;
    }
    if (!condition) {
        condition = json_object(arena);
        json_append(conditions, condition);
    }
    condition_write(arena, condition, wanted, since);
    return condition;
}

struct json *kube_condition_find(const struct json *conditions, const char *type)
{
    JSON_EACH (condition, conditions)
        if (str_eq(json_get_string(condition, "type", NULL), type))
            return condition;
    return NULL;
}

struct json *kube_condition_get(const struct json *object, const char *type)
{
    return kube_condition_find(json_at(object, "status", "conditions", NULL), type);
}

bool kube_condition_is_true(const struct json *object, const char *type)
{
    return str_eq(json_get_string(kube_condition_get(object, type), "status", NULL), "True");
}

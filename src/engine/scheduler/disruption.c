/* See disruption.h. */
#include "engine/scheduler/disruption.h"

#include "base/moment.h"
#include "base/str.h"

struct json *disruption_patch(struct arena *arena, const struct json *pod, const char *reason,
                              const char *message, int64_t now_ms)
{
    char now[MOMENT_TEXT_MAX];
    moment_format(now_ms, now);
    struct json *patch = json_object(arena), *condition = json_object(arena);
    struct json *conditions =
        json_ensure_array(arena, json_ensure_object(arena, patch, "status"), "conditions");
    JSON_EACH (other, json_at(pod, "status", "conditions", NULL)) {
        if (!str_eq(json_get_string(other, "type", ""), "DisruptionTarget"))
            json_append(conditions, json_clone(arena, other));
    }
    json_set_string(arena, condition, "type", "DisruptionTarget");
    json_set_string(arena, condition, "status", "True");
    json_set_string(arena, condition, "lastTransitionTime", now);
    json_set_string(arena, condition, "reason", reason);
    json_set_string(arena, condition, "message", message);
    json_append(conditions, condition);
    return patch;
}

/* Makes the patch with the condition DisruptionTarget; see disruption.h. */
#include "engine/scheduler/disruption.h"
#include "kube/condition.h"

#include "base/moment.h"
#include "base/str.h"

struct json *disruption_patch(struct arena *arena, const struct json *pod, const char *reason,
                              const char *message, int64_t now_ms)
{
    const struct kube_condition target = {.type = "DisruptionTarget",
                                          .status = "True",
                                          .reason = reason,
                                          .message = message,
                                          .now_ms = now_ms};
    struct json *patch = json_object(arena);
    struct json *conditions =
        json_ensure_array(arena, json_ensure_object(arena, patch, "status"), "conditions");
    JSON_EACH (other, json_at(pod, "status", "conditions", NULL))
        json_append(conditions, json_clone(arena, other));
    kube_condition_set(arena, conditions, &target,
                       KUBE_CONDITION_MOVE_LAST | KUBE_CONDITION_RESET_TRANSITION);
    return patch;
}

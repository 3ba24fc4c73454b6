/* The condition DisruptionTarget of a pod that the system ends for reasons outside of the pod. A
 * controller that counts failures does not count a pod with this condition. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_DISRUPTION_H
#define TRAINYARD_ENGINE_SCHEDULER_DISRUPTION_H

#include "base/json/json.h"

#include <stdint.h>

/* Returns a patch of the pod's status that adds DisruptionTarget to the pod's conditions. */
struct json *disruption_patch(struct arena *arena, const struct json *pod, const char *reason,
                              const char *message, int64_t now_ms);

#endif

/* The condition DisruptionTarget of a pod that is ended by preemption or because of a taint. The
 * operator of training jobs does not count the end of such a pod as a failure. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_DISRUPTION_H
#define TRAINYARD_ENGINE_SCHEDULER_DISRUPTION_H

#include "base/json/json.h"

#include <stdint.h>

/* Returns a patch with all conditions of the pod and the condition DisruptionTarget, allocated in
 * the arena. */
struct json *disruption_patch(struct arena *arena, const struct json *pod, const char *reason,
                              const char *message, int64_t now_ms);

#endif

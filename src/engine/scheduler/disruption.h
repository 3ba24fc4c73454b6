/* The condition of a pod that is ended for a reason which is not its own: controllers that count
 * failures see that this is none. Pure. */
#ifndef TRAINYARD_ENGINE_DISRUPTION_H
#define TRAINYARD_ENGINE_DISRUPTION_H

#include "base/json/json.h"

#include <stdint.h>

/* A patch of the pod's status that says DisruptionTarget, beside the conditions it has. */
struct json *disruption_patch(struct arena *arena, const struct json *pod, const char *reason,
                              const char *message, int64_t now_ms);

#endif

/* Applies the LimitRanges of a namespace to its pods and claims: sets default requests and limits
 * of containers, and rejects amounts that are too large or too small. Pure. */
#ifndef TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H
#define TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H

#include "base/json/json.h"

/* Whether the pod has so many containers, and the LimitRanges (a list) have so many amounts,
 * that checking each container against each amount would block the loop for too long. */
bool limit_range_is_too_large(const struct json *ranges, const struct json *pod);

/* Sets the default requests and limits of the pod's containers, and an annotation that lists them.
 * Returns whether the pod was changed. */
bool limit_range_set_defaults(struct arena *arena, const struct json *range, struct json *pod);

/* Returns Kubernetes' message if the pod or claim is rejected, or NULL if it is accepted. */
const char *limit_range_reject_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod);
const char *limit_range_reject_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim);

#endif

/* Applies the LimitRanges of a namespace to its pods and claims: sets default requests and limits
 * of containers, and rejects amounts that are too large or too small. Pure; limits.c calls it. */
#ifndef TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H
#define TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H

#include "base/json/json.h"

/* True if the pod has so many containers, and the array of LimitRanges so many amounts, that the
 * check of each amount of each container would block other clients. */
bool limit_range_is_too_large(const struct json *ranges, const struct json *pod);

/* Sets the default requests and limits of the pod's containers, and an annotation that lists them.
 * Returns whether the pod was changed. */
bool limit_range_set_defaults(struct arena *arena, const struct json *range, struct json *pod);

/* Why the pod or claim is rejected, in Kubernetes' message; NULL: it is not. */
const char *limit_range_reject_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod);
const char *limit_range_reject_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim);

#endif

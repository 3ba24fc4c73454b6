/* Applies a LimitRange to a pod or claim of its namespace: sets default requests and limits of
 * containers, and rejects amounts that are too large or too small. limits.c calls these functions.
 * Pure. */
#ifndef TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H
#define TRAINYARD_ENGINE_ADMISSION_LIMIT_RANGE_H

#include "base/json/json.h"

/* Returns whether the pod has so many containers, and the LimitRanges in the array `ranges` have so
 * many amounts, that checking each container against each amount would block the loop for too
 * long. */
bool limit_range_is_too_large(const struct json *ranges, const struct json *pod);

/* Sets the default requests and limits of the pod's containers, and an annotation that lists them.
 * Returns whether the pod was changed. */
bool limit_range_set_defaults(struct arena *arena, const struct json *range, struct json *pod);

/* Returns Kubernetes' message if the LimitRange rejects the pod, or NULL if it accepts the pod. */
const char *limit_range_reject_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod);
/* Like limit_range_reject_pod(), but for a claim. */
const char *limit_range_reject_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim);

#endif

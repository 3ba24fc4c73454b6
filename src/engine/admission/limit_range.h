/* What LimitRanges of a namespace do to its pods and claims: containers get what they do not say,
 * and who asks for too much or too little is refused. Pure; limits.c asks it. */
#ifndef TRAINYARD_ENGINE_LIMIT_RANGE_H
#define TRAINYARD_ENGINE_LIMIT_RANGE_H

#include "base/json/json.h"

/* True if the pod has so many containers, and the LimitRanges (an array) have so many amounts, that
 * looking at each amount of each container would keep other clients waiting. */
bool limit_range_is_too_large(const struct json *ranges, const struct json *pod);

/* Give the pod's containers requests and limits by default, and write down on the pod which. True
 * if it was changed. */
bool limit_range_set_defaults(struct arena *arena, const struct json *range, struct json *pod);

/* Why the pod or claim is refused, as Kubernetes words it; NULL: it is not. */
const char *limit_range_reject_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod);
const char *limit_range_reject_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim);

#endif

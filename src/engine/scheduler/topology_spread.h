/* spec.topologySpreadConstraints: pods like this one, evenly over zones or nodes. Pure. */
#ifndef TRAINYARD_ENGINE_TOPOLOGY_SPREAD_H
#define TRAINYARD_ENGINE_TOPOLOGY_SPREAD_H

#include "engine/scheduler/scheduler.h"

/* Says on each node that nobody objects to yet where the pod would be one too many (DoNotSchedule).
 */
void topology_spread_reject(struct arena *arena, const struct json *pod,
                            const struct scheduler_view *view,
                            struct scheduler_rejection *rejections);

/* Takes from each node as many as there are of its like in its domains (ScheduleAnyway). */
void topology_spread_score(struct arena *arena, const struct json *pod,
                           const struct scheduler_view *view, int64_t *scores);

#endif

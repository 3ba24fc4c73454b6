/* Evaluates spec.topologySpreadConstraints, which spread the pods that a selector matches evenly
 * over zones or nodes. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_TOPOLOGY_SPREAD_H
#define TRAINYARD_ENGINE_SCHEDULER_TOPOLOGY_SPREAD_H

#include "engine/scheduler/scheduler.h"

/* Adds a rejection to each node that has none yet, if it lacks the topology label of a
 * DoNotSchedule constraint or if the pod would exceed maxSkew there. */
void topology_spread_reject(struct arena *arena, const struct json *pod,
                            const struct scheduler_view *view,
                            struct scheduler_rejection *rejections);

/* For each ScheduleAnyway constraint, subtracts from the score of each node the number of matching
 * pods in its domain. A node without the topology label loses more than any other node. */
void topology_spread_score(struct arena *arena, const struct json *pod,
                           const struct scheduler_view *view, int64_t *scores);

#endif

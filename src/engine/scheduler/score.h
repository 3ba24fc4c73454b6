/* The scores of the nodes that fit a pod. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_SCORE_H
#define TRAINYARD_ENGINE_SCHEDULER_SCORE_H

#include "engine/scheduler/scheduler.h"

/* Returns a score per node; only those with `open` set count. A score sums what the pod prefers
 * (nodes, neighbours, spreading, no PreferNoSchedule taints), each from 0 to 100, with Kubernetes'
 * weights. */
int64_t *scheduler_scores(struct arena *arena, const struct json *pod,
                          const struct scheduler_view *view, const bool *open);

#endif

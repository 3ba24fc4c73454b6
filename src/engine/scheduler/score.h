/* Computes the scores of the nodes that fit a pod. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_SCORE_H
#define TRAINYARD_ENGINE_SCHEDULER_SCORE_H

#include "engine/scheduler/scheduler.h"

/* Returns one score per node. `open[i]` says whether node i fits the pod; if not, its score is 0. A
 * score is the weighted sum of four values from 0 to 100, with Kubernetes' weights: node affinity,
 * pod affinity, topology spread, and untolerated PreferNoSchedule taints (fewer are better). */
int64_t *scheduler_scores(struct arena *arena, const struct json *pod,
                          const struct scheduler_view *view, const bool *open);

#endif

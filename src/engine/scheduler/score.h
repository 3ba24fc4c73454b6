/* How much a pod likes each of the nodes it could go to. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_SCORE_H
#define TRAINYARD_ENGINE_SCHEDULER_SCORE_H

#include "engine/scheduler/scheduler.h"

/* Of each node for which `open` holds: what the pod itself asks for (preferred nodes, neighbours,
 * spreading, taints it would rather not have), each from 0 to 100, with the weights Kubernetes
 * gives them. */
int64_t *scheduler_scores(struct arena *arena, const struct json *pod,
                          const struct scheduler_view *view, const bool *open);

#endif

/* Evaluates spec.affinity.podAffinity and podAntiAffinity, both of the pod that is being scheduled
 * and of the pods that have a node. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_POD_AFFINITY_H
#define TRAINYARD_ENGINE_SCHEDULER_POD_AFFINITY_H

#include "engine/scheduler/scheduler.h"

/* Returns whether the pod has podAffinity or podAntiAffinity. */
bool pod_affinity_is_given(const struct json *pod);

/* Adds a rejection to each node that has none yet and that a required term excludes. */
void pod_affinity_reject(struct arena *arena, const struct json *pod,
                         const struct scheduler_view *view, struct scheduler_rejection *rejections);

/* Adds to the score of each node the weights of the preferred terms that match there: the terms of
 * the pod, and the terms of placed pods that select the pod. Weights of anti-affinity are
 * subtracted. A required affinity term of a placed pod counts with weight 1. */
void pod_affinity_score(struct arena *arena, const struct json *pod,
                        const struct scheduler_view *view, int64_t *scores);

#endif

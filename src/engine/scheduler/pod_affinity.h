/* Near to some pods and away from others: spec.affinity.podAffinity and podAntiAffinity, of the pod
 * that comes and of those that are there. Pure. */
#ifndef TRAINYARD_ENGINE_POD_AFFINITY_H
#define TRAINYARD_ENGINE_POD_AFFINITY_H

#include "engine/scheduler/scheduler.h"

/* Whether it says anything of other pods. */
bool pod_affinity_is_given(const struct json *pod);

/* Says on each node that nobody objects to yet what keeps the pod from it. */
void pod_affinity_reject(struct arena *arena, const struct json *pod,
                         const struct scheduler_view *view, struct scheduler_rejection *rejections);

/* Adds to each node the weights of the preferences that are met there: those of the pod, and those
 * of the pods that are there and would like it near or far. */
void pod_affinity_score(struct arena *arena, const struct json *pod,
                        const struct scheduler_view *view, int64_t *scores);

#endif

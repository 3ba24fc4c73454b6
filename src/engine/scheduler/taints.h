/* The taints of nodes: which taints follow from the state of a node, and which pods tolerate which
 * taints. A node is created with the taint not-ready. The taint is removed when the node reports
 * that it is ready. Pure; taint_controller.c writes the taints. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_TAINTS_H
#define TRAINYARD_ENGINE_SCHEDULER_TAINTS_H

#include "base/json/json.h"
#include "kube/kinds/node.h"

#include <stddef.h>

/* Returns the taints that the node should have: NoSchedule taints for its conditions and a cordon,
 * and all its other taints. Returns NULL if the node has these taints already. */
struct json *taints_wanted(struct arena *arena, const struct json *node);

/* Returns the first NoSchedule or NoExecute taint of the node that the pod does not tolerate, or
 * NULL. */
const struct json *taints_untolerated(const struct json *pod, const struct json *node);

/* Returns whether the pod may be scheduled on a cordoned node. */
bool taints_tolerates_cordon(const struct json *pod);

/* Returns how many PreferNoSchedule taints of the node the pod does not tolerate. */
size_t taints_count_prefer_no_schedule(const struct json *pod, const struct json *node);

/* Returns how many seconds the pod may stay on the node because of its NoExecute taints: 0 if it
 * must be evicted at once, TAINTS_FOR_EVER if it need not be evicted. */
#define TAINTS_FOR_EVER (-1)
int64_t taints_toleration_s(const struct json *pod, const struct json *node);

#endif

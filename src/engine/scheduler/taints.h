/* The taints of nodes: which taints follow from the state of a node, and which pods tolerate which
 * taints. A node is created with the taint not-ready and loses it when it reports that it is ready;
 * taint_controller.c writes that. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_TAINTS_H
#define TRAINYARD_ENGINE_SCHEDULER_TAINTS_H

#include "base/json/json.h"
#include "kube/kinds/node.h"

#include <stddef.h>

/* The taints that the node should have: NoSchedule taints for its conditions and a cordon, and all
 * other taints as they are. NULL if the node has them already. */
struct json *taints_wanted(struct arena *arena, const struct json *node);

/* The first taint (NoSchedule, NoExecute) that the pod does not tolerate, or NULL. */
const struct json *taints_untolerated(const struct json *pod, const struct json *node);

/* Whether the pod may be scheduled on a cordoned node. */
bool taints_tolerates_cordon(const struct json *pod);

/* How many PreferNoSchedule taints of the node the pod does not tolerate. */
size_t taints_count_prefer_no_schedule(const struct json *pod, const struct json *node);

/* How long the pod may stay on the node with its present NoExecute taints, in seconds: 0 if it must
 * be evicted at once, TAINTS_FOR_EVER if it may stay. */
#define TAINTS_FOR_EVER (-1)
int64_t taints_toleration_s(const struct json *pod, const struct json *node);

#endif

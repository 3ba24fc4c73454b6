/* The taints of nodes: which of them say how a node is, and which pods put up with which. A node is
 * made with the first of them, and loses it when it says that it is ready; taint_controller.c sees
 * to that. Pure. */
#ifndef TRAINYARD_ENGINE_TAINTS_H
#define TRAINYARD_ENGINE_TAINTS_H

#include "base/json/json.h"
#include "kube/kinds/node.h"

#include <stddef.h>

/* The taints the node is to have, or NULL where it has just these: what its conditions and a cordon
 * say as NoSchedule, and all others as they are. */
struct json *taints_wanted(struct arena *arena, const struct json *node);

/* The first taint of the node that keeps the pod away (NoSchedule, NoExecute), or NULL. */
const struct json *taints_untolerated(const struct json *pod, const struct json *node);

/* Whether the pod would be let onto a cordoned node. */
bool taints_tolerates_cordon(const struct json *pod);

/* How many taints the node has that the pod would rather not have (PreferNoSchedule). */
size_t taints_disliked(const struct json *pod, const struct json *node);

/* How long the pod may stay on the node, in seconds from the moment its taints are what they are
 * (NoExecute): 0 where it must go at once, TAINTS_FOR_EVER where nothing drives it away. */
#define TAINTS_FOR_EVER (-1)
int64_t taints_patience_s(const struct json *pod, const struct json *node);

#endif

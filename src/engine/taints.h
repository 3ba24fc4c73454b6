/* The taints that say how a node is, beside those that people set. A node is made with the first of
 * them, and loses it when it says that it is ready; taint_controller.c sees to that. */
#ifndef TRAINYARD_ENGINE_TAINTS_H
#define TRAINYARD_ENGINE_TAINTS_H

#include "base/json.h"

#define TAINT_NOT_READY     "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE   "node.kubernetes.io/unreachable"
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"

/* What a new node has unless it has it already. */
void taints_add_not_ready(struct arena *arena, struct json *node);

/* The taints the node is to have, or NULL where it has just these: what its conditions and a cordon
 * say as NoSchedule, and all others as they are. */
struct json *taints_wanted(struct arena *arena, const struct json *node);

#endif

/* Detects pods that together request more than their machine has. This can happen because several
 * nodes may represent one machine, and each node may offer all resources of the machine or more.
 * The scheduler allows it, but writes an event. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H
#define TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H

#include "engine/scheduler/scheduler.h"

/* Annotations of a node: the cpu and the memory of its machine. The node has each of them only if
 * an option of `trainyard up` sets the amount that the node offers. */
#define OVERCOMMIT_MACHINE_CPU    "trainyard.dev/machine-cpu"
#define OVERCOMMIT_MACHINE_MEMORY "trainyard.dev/machine-memory"

/* Returns whether both nodes are the same node, or have the same status.nodeInfo.machineID. */
bool overcommit_is_one_machine(const struct json *a, const struct json *b);

/* Returns a message if all pods on the nodes of this node's machine, and one more pod that requests
 * `more`, together request more than the machine has. Returns NULL if the machine has enough. */
const char *overcommit_message(struct arena *arena, const struct scheduler_view *view, size_t node,
                               const struct node_usage *more);

#endif

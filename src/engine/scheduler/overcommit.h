/* Reports pods that together request more than their machine has. This can happen because several
 * nodes may represent one machine, and each node may offer all resources of the machine or more.
 * The scheduler allows it, but writes an event. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H
#define TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H

#include "engine/scheduler/scheduler.h"

/* Annotations with the amounts of the machine, on a node that offers other amounts. */
#define OVERCOMMIT_MACHINE_CPU    "trainyard.dev/machine-cpu"
#define OVERCOMMIT_MACHINE_MEMORY "trainyard.dev/machine-memory"

/* Whether both nodes have the same status.nodeInfo.machineID. */
bool overcommit_is_one_machine(const struct json *a, const struct json *b);

/* Returns a message if all pods on the node's machine, and one more pod that requests `more`,
 * request more than the machine has. Returns NULL if the machine has enough. */
const char *overcommit_message(struct arena *arena, const struct scheduler_view *view, size_t node,
                               const struct node_usage *more);

#endif

/* Several nodes may be one machine, and each node may offer all of the machine or more. So the pods
 * of a machine may request more than it has. The scheduler lets that happen; an event reports it.
 * Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H
#define TRAINYARD_ENGINE_SCHEDULER_OVERCOMMIT_H

#include "engine/scheduler/scheduler.h"

/* Annotations of a node that offers another amount than its machine has: the machine's amount. */
#define OVERCOMMIT_MACHINE_CPU    "trainyard.dev/machine-cpu"
#define OVERCOMMIT_MACHINE_MEMORY "trainyard.dev/machine-memory"

/* Whether both nodes have the same status.nodeInfo.machineID. */
bool overcommit_is_one_machine(const struct json *a, const struct json *b);

/* A message that compares the requests of all pods on the machine behind the node, one more pod
 * included, with what the machine has. NULL if the machine has enough. */
const char *overcommit_message(struct arena *arena, const struct scheduler_view *view, size_t node,
                               const struct node_usage *more);

#endif

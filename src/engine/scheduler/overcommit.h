/* Several nodes may be one machine, and each of them may offer all of it, or more: what their pods
 * ask for together may be more than there is. No pod waits for that; an event tells of it. Pure. */
#ifndef TRAINYARD_ENGINE_OVERCOMMIT_H
#define TRAINYARD_ENGINE_OVERCOMMIT_H

#include "engine/scheduler/scheduler.h"

/* Annotations of a node that offers another amount than its machine has: the machine's. */
#define OVERCOMMIT_MACHINE_CPU    "trainyard.dev/machine-cpu"
#define OVERCOMMIT_MACHINE_MEMORY "trainyard.dev/machine-memory"

/* Whether two nodes are the same machine: status.nodeInfo.machineID says so. */
bool overcommit_is_one_machine(const struct json *a, const struct json *b);

/* Of the machine behind a node, with one more pod there: what all ask for and what there is; NULL
 * where that is enough. */
const char *overcommit_message(struct arena *arena, const struct scheduler_view *view, size_t node,
                               const struct node_usage *more);

#endif

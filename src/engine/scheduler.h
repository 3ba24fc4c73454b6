/* Which node a pod goes to. Pure: pods and nodes in, a choice or the reason against each node
 * out; scheduler_controller.c feeds it and binds. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_H
#define TRAINYARD_ENGINE_SCHEDULER_H

#include "base/arena.h"
#include "base/json.h"
#include "engine/node_usage.h"

struct scheduler_node {
    const char *name;
    const struct json *node;
    const struct node_usage *used; /* by the pods that run there or are about to */
};

struct scheduler_choice {
    const char *node;    /* NULL: none fits */
    const char *message; /* why not, as Kubernetes words it: "0/3 nodes are available: …" */
};

/* The fitting node with the fewest pods; among equals the first by name, so the same state gives
 * the same choice. */
void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_node *nodes,
                    size_t count, struct scheduler_choice *ret);

/* Whether a scheduler has anything to say about the pod: alive, unbound, and ours. Ours are those
 * that name no scheduler, the default one, or the one of the scheduler-plugins, whose PodGroups are
 * served (scheduler_gang.h). */
bool scheduler_wants(const struct json *pod);

/* Why the pod may not go to the node however much room there is, in the words of Kubernetes; NULL:
 * it may. */
const char *scheduler_objection(struct arena *arena, const struct json *pod,
                                const struct json *node);
/* "0/3 nodes are available: …" out of one objection a node, which it sorts. */
const char *scheduler_explain(struct arena *arena, const char **objections, size_t count);

#endif

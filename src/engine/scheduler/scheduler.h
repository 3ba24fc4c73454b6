/* Which node a pod goes to. Pure: a pod and what the cluster looks like in, a choice or the reason
 * against each node out; scheduler_controller.c feeds it and binds. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_H
#define TRAINYARD_ENGINE_SCHEDULER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/scheduler/node_usage.h"

struct scheduler_node {
    const char *name;
    const struct json *node;
    const struct node_usage *used; /* by the pods that run there or are about to */
};

/* A pod that has a node, or is about to. */
struct scheduler_placed {
    const struct json *pod;
    size_t node; /* its position in the view */
};

struct scheduler_view {
    const struct scheduler_node *nodes;
    size_t count;
    const struct scheduler_placed *pods; /* may be left out where nobody minds the others */
    size_t pod_count;
    const struct json *namespaces; /* name → labels */
};

/* Why a node does not get the pod, in the words of Kubernetes. */
struct scheduler_rejection {
    const char *reasons[4];
    size_t count;
    bool permanent; /* it would hold without any of the pods that are there */
};

struct scheduler_choice {
    const char *node;                             /* NULL: none fits */
    const char *message;                          /* why not: "0/3 nodes are available: …" */
    const char *advice;                           /* what would help; or NULL */
    const struct scheduler_rejection *rejections; /* one per node, where none fits */
};

/* Of the nodes that fit the one the pod likes best (scheduler_score.h), then the one with the most
 * left, then with the fewest pods; among equals the first by name, so the same state gives the same
 * choice. */
void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_view *view,
                    struct scheduler_choice *ret);

/* Whether a scheduler has anything to say about the pod: alive, unbound, not held back by a gate,
 * and ours. Ours are those that name no scheduler, the default one, or the one of the
 * scheduler-plugins, whose PodGroups are served (scheduler_gang.h). */
bool scheduler_is_responsible(const struct json *pod);

/* Whether it matters to the pod which others are where. Of one that is placed: whether it matters
 * to it who comes. */
bool scheduler_depends_on_pods(const struct json *pod);

/* What speaks against a node, from the lasting to what depends on the pods there: the node itself,
 * its room, and the neighbours of the pod. Each says whether anything does. */
bool scheduler_check_node(struct arena *arena, const struct json *pod, const struct json *node,
                          struct scheduler_rejection *ret);
bool scheduler_check_room(struct arena *arena, const struct scheduler_view *view, size_t node,
                          const struct node_usage *asked, struct scheduler_rejection *ret);
void scheduler_check_neighbours(struct arena *arena, const struct json *pod,
                                const struct scheduler_view *view,
                                struct scheduler_rejection *rejections); /* one a node */

void scheduler_reject(struct scheduler_rejection *rejection, const char *reason, bool permanent);

/* "0/3 nodes are available: …" out of one objection a node. */
const char *scheduler_explain(struct arena *arena, const struct scheduler_rejection *rejections,
                              size_t count);

#endif

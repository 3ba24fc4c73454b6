/* Chooses the node of a pod. Pure: from the pod and a view of the cluster it computes a node, or
 * one rejection per node. controller.c binds the pod. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_SCHEDULER_H
#define TRAINYARD_ENGINE_SCHEDULER_SCHEDULER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/scheduler/node_usage.h"

struct scheduler_node {
    const char *name;
    const struct json *node;
    const struct node_usage *used; /* the usage of the pods that run or are assumed there */
};

/* A pod that has a node, or is assumed on one. */
struct scheduler_placed {
    const struct json *pod;
    size_t node; /* the node's position in the view */
};

struct scheduler_view {
    const struct scheduler_node *nodes;
    size_t count;
    const struct scheduler_placed *pods; /* may be empty if no pod depends on other pods */
    size_t pod_count;
    const struct json *namespaces; /* name → labels */
};

/* Why a node is rejected for the pod, in Kubernetes' messages. */
struct scheduler_rejection {
    const char *reasons[4];
    size_t count;
    bool permanent; /* the node would be rejected even without any pod */
};

struct scheduler_choice {
    const char *node;    /* NULL: no node fits */
    const char *message; /* why no node fits: "0/3 nodes are available: …" */
    const char *advice;  /* what the user can do if no node fits, or NULL */
    const struct scheduler_rejection *rejections; /* one per node; count 0: the node fits */
};

/* Chooses the node with the highest score (score.h), then with the most free resources, then with
 * the fewest pods, then the first by name. So the same state gives the same choice. */
void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_view *view,
                    struct scheduler_choice *ret);

/* Whether this scheduler must place the pod. The pod must be pending, without a node, not being
 * deleted, and without scheduling gates. Its schedulerName must be missing, default-scheduler or
 * scheduler-plugins-scheduler, whose PodGroups this scheduler supports (gang.h). */
bool scheduler_is_responsible(const struct json *pod);

/* Whether the choice of the pod's node depends on the nodes of other pods. A placed pod for which
 * this is true may also restrict the nodes of other pods. */
bool scheduler_depends_on_pods(const struct json *pod);

/* The checks of a node, in this order: the node itself, its free resources, and the pods in its
 * topology domains. The first two functions return true if they reject the node. */
bool scheduler_check_node(struct arena *arena, const struct json *pod, const struct json *node,
                          struct scheduler_rejection *ret);
bool scheduler_check_room(struct arena *arena, const struct scheduler_view *view, size_t node,
                          const struct node_usage *asked, struct scheduler_rejection *ret);
void scheduler_check_neighbours(struct arena *arena, const struct json *pod,
                                const struct scheduler_view *view,
                                struct scheduler_rejection *rejections); /* one per node */

void scheduler_reject(struct scheduler_rejection *rejection, const char *reason, bool permanent);

/* Returns the message "0/3 nodes are available: …" for one rejection per node. */
const char *scheduler_explain(struct arena *arena, const struct scheduler_rejection *rejections,
                              size_t count);

#endif

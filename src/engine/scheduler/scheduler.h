/* Chooses the node of a pod. Computes a node, or one rejection per node, from the pod and a view of
 * the cluster. controller.c, preempt_controller.c and gang.c call these functions, and bind.c binds
 * the pod. The functions are pure: they read no clock and call no API. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_SCHEDULER_H
#define TRAINYARD_ENGINE_SCHEDULER_SCHEDULER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/scheduler/node_usage.h"

struct scheduler_node {
    const char *name;
    const struct json *node;
    /* Never NULL; the sum of the requests of the pods that count on the node. */
    const struct node_usage *used;
};

/* A pod that has a node, or is assumed on one. */
struct scheduler_placed {
    const struct json *pod;
    size_t node; /* the node's position in the view */
};

struct scheduler_view {
    const struct scheduler_node *nodes;
    size_t count;
    /* The placed pods; may be empty if no placed pod has pod affinity and the choice does not
     * depend on other pods. */
    const struct scheduler_placed *pods;
    size_t pod_count;
    /* Maps the name of a namespace to its labels; used only with `pods`. */
    const struct json *namespaces;
};

/* Why a node is rejected for the pod, in the words of Kubernetes' messages. */
struct scheduler_rejection {
    const char *reasons[4];
    size_t count;
    bool permanent; /* deleting pods of the node would not help, so preemption is not tried */
};

struct scheduler_choice {
    const char *node;    /* NULL: no node fits */
    const char *message; /* why no node fits: "0/3 nodes are available: …" */
    const char *advice;  /* what the user can do if no node fits, or NULL */
    const struct scheduler_rejection *rejections; /* one per node; count 0: the node fits */
};

/* Chooses the node with the highest score (score.h) among the nodes that fit the pod. On a tie,
 * chooses the node with the most free resources, then with the fewest pods, then the first by name.
 * So the same state gives the same choice. Fills in *ret, whose strings belong to the arena or to
 * the view. */
void scheduler_pick(struct arena *arena, const struct json *pod, const struct scheduler_view *view,
                    struct scheduler_choice *ret);

/* Returns whether this scheduler must place the pod. The pod must be pending, without a node, not
 * being deleted, and without scheduling gates. Its schedulerName must be missing, default-scheduler
 * or scheduler-plugins-scheduler, whose PodGroups this scheduler supports (gang.h). */
bool scheduler_is_responsible(const struct json *pod);

/* Returns whether the choice of the pod's node depends on the nodes of other pods: the pod has pod
 * affinity or topologySpreadConstraints. */
bool scheduler_depends_on_pods(const struct json *pod);

/* The next three functions check nodes. The caller runs them in this order, and runs the second for
 * a node only if the first does not reject the node.
 *
 * scheduler_check_node() checks the node itself: cordon, readiness, taints, node affinity. Returns
 * true if it rejects the node, and adds the reason to *ret. */
bool scheduler_check_node(struct arena *arena, const struct json *pod, const struct json *node,
                          struct scheduler_rejection *ret);
/* Checks whether the resources and ports that the pod requests are free. Returns true if it rejects
 * the node, and adds the reasons to *ret. */
bool scheduler_check_room(struct arena *arena, const struct scheduler_view *view, size_t node,
                          const struct node_usage *requests, struct scheduler_rejection *ret);
/* Checks all nodes against the pods in their topology domains. Adds a rejection to each node that
 * has none yet. */
void scheduler_check_neighbours(struct arena *arena, const struct json *pod,
                                const struct scheduler_view *view,
                                struct scheduler_rejection *rejections); /* one per node */

/* Adds a reason to the rejection. Ignores the reason if the rejection has four reasons already. */
void scheduler_reject(struct scheduler_rejection *rejection, const char *reason, bool permanent);

/* Returns the message "0/3 nodes are available: …" for one rejection per node, or Kubernetes'
 * message for a cluster without nodes if `count` is 0. */
const char *scheduler_explain(struct arena *arena, const struct scheduler_rejection *rejections,
                              size_t count);

#endif

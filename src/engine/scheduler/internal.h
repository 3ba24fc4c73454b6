/* The state and the functions that the files of the scheduler's controller share. Included by the
 * files of this folder only. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_INTERNAL_H
#define TRAINYARD_ENGINE_SCHEDULER_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/hub/hub.h"
#include "engine/scheduler/scheduler.h"
#include "kube/client/workqueue.h"

struct scheduler {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/pod", and "group namespace/name" */
    struct map used;         /* node name → struct node_usage */
    struct map assumed;      /* pod key → struct scheduler_assumption */
    struct map nominees;     /* pod key → struct scheduler_nominee */
    VEC(struct scheduler_priority_count) priority_counts; /* of the pods that have a node */
    size_t affinity_count;    /* pods with pod affinity that have a node, or are assumed on one */
    struct map waiting;       /* pod key → newest version of a pod that waits for a node */
    size_t dependent_waiting; /* how many pods in `waiting` depend on the nodes of other pods */
    struct map gangs;         /* key of a waiting group → struct scheduler_gang_state */
    /* Resources have been reserved for the groups that an earlier scheduler process left partly
     * bound. */
    bool resumed;
};

/* The node that a pod is assumed on, from the decision until the informer shows the pod on that
 * node. */
struct scheduler_assumption {
    char *node;
    struct node_usage usage;
    char *devices; /* the pod's devices, in the format of devices.h; NULL: none */
    bool has_affinity;
    bool sent; /* the binding is in flight, or has succeeded */
};

/* A pod for which other pods are being preempted. Pods of the same or a lower priority cannot use
 * the resources that are nominated to it on that node. */
struct scheduler_nominee {
    char *node;
    struct node_usage usage;
    int64_t priority;
};

/* How many pods of a priority have a node. */
struct scheduler_priority_count {
    int64_t priority;
    size_t pods;
};

/* ---- bind.c */

struct node_usage *scheduler_used_on(struct scheduler *scheduler, const char *node);
/* Returns the pod's assumption, or NULL. First forgets the assumption if its node no longer exists
 * and its binding is not in flight. */
struct scheduler_assumption *scheduler_assumed(struct scheduler *scheduler, const char *key);
void scheduler_assume(struct scheduler *scheduler, const char *key, const struct json *pod,
                      const char *node);
void scheduler_forget(struct scheduler *scheduler, const char *key);
void scheduler_bind_release(struct scheduler *scheduler);

/* The API calls in flight for the pods of one group. When the last call has been answered, the work
 * on the group's key in the queue ends. */
struct scheduler_pass;
struct scheduler_pass *scheduler_pass_new(struct scheduler *scheduler, const char *key);
void scheduler_pass_unref(struct scheduler_pass *pass);

/* scheduler_bind() binds a pod to its assumed node. scheduler_report() writes why the pod has no
 * node, and the node that preemption clears for it (`nominated`, NULL: none). `pass` is the pass of
 * the pod's group; if it is NULL, the work on the pod's key in the queue ends when the API call has
 * been answered. */
void scheduler_bind(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                    struct scheduler_pass *pass);
void scheduler_report(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                      const char *message, const char *nominated, struct scheduler_pass *pass);

/* ---- controller.c */

/* Returns the node whose resources the pod uses, or NULL. */
const char *scheduler_occupied_node(const struct kube_object *pod);

/* ---- view.c */

/* The cluster as the pod of this key sees it. Resources that are nominated to pods of the same or a
 * higher priority count as used. The view contains the other pods if `with_pods` is set, if this
 * pod depends on other pods, or if a placed pod has pod affinity. */
struct scheduler_gathered {
    struct scheduler_view view;
    struct node_usage *copies; /* usage of the nodes that have nominees */
    size_t copy_count;
};
void scheduler_gather(struct scheduler *scheduler, struct arena *arena, const char *key,
                      const struct json *pod, bool with_pods, struct scheduler_gathered *ret);
void scheduler_gathered_release(struct scheduler_gathered *gathered);

/* Returns the devices that the pod gets on the node, in the format of devices.h; NULL: the pod
 * needs none. */
const char *scheduler_devices(struct scheduler *scheduler, struct arena *arena,
                              const struct json *pod, const char *node);

/* Checks whether, with this pod, all pods of the node's machine request more than the machine has.
 * If so, writes an event on the pod and, if the machine had enough without this pod, on the node.
 * Must be called before the pod is counted on the node. */
void scheduler_report_overcommit(struct scheduler *scheduler, const struct json *pod,
                                 const struct node_usage *asked, const char *node);

/* ---- preempt_controller.c */

/* Whether a pod that has a node has a lower priority than `priority`. */
bool scheduler_has_lower_priority(const struct scheduler *scheduler, int64_t priority);
void scheduler_count_priority(struct scheduler *scheduler, int64_t priority, bool there);
/* Called if no node fits: preempts pods, or reports why the pod waits. The work on the pod's key in
 * the queue then ends. */
void scheduler_try_preempt(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                           const char *message);
void scheduler_nominate(struct scheduler *scheduler, const char *key, const struct json *pod,
                        const char *node);
void scheduler_withdraw_nomination(struct scheduler *scheduler, const char *key);
void scheduler_preempt_release(struct scheduler *scheduler);

/* ---- gang_controller.c */

/* Returns the key of the pod's group in the queue; NULL: the pod has no group. */
char *scheduler_gang_key_of(struct arena *arena, const struct kube_object *pod);
bool scheduler_gang_is_key(const char *key);
void scheduler_gang_enqueue(struct scheduler *scheduler, const char *namespace_, const char *name);
void scheduler_gang_work(struct scheduler *scheduler, const char *key);
/* Reserves resources for the other members of groups that are partly bound. Must run before the
 * first decision. */
void scheduler_gang_resume(struct scheduler *scheduler);
void scheduler_gang_release(struct scheduler *scheduler);

#endif

/* What the files of the scheduler's controller share: what it knows of the nodes, and how a choice
 * becomes a binding or a condition. Only scheduler_*.c include it. */
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
    size_t affinity_count;    /* of them, or about to be: those that mind who comes near */
    struct map waiting;       /* pod key → its newest version, of those without a node */
    size_t dependent_waiting; /* of those: that mind who is where */
    struct map gangs;         /* key of a group that waits → struct scheduler_gang_state */
    bool resumed;             /* groups an earlier scheduler left half bound have their room */
};

/* A pod counts on its node from the choice until the informer shows it there. */
struct scheduler_assumption {
    char *node;
    struct node_usage usage;
    char *devices; /* of the machine, as devices.h writes them; NULL: none */
    bool has_affinity;
    bool sent; /* its binding is under way, or has been answered well */
};

/* A pod for which others are leaving a node: its room there is kept from the less important. */
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

/* ---- scheduler_bind.c */

struct node_usage *scheduler_used_on(struct scheduler *scheduler, const char *node);
/* The node the pod is thought to be on; NULL: none, or none that is still there. */
struct scheduler_assumption *scheduler_assumed(struct scheduler *scheduler, const char *key);
void scheduler_assume(struct scheduler *scheduler, const char *key, const struct json *pod,
                      const char *node);
void scheduler_forget(struct scheduler *scheduler, const char *key);
void scheduler_bind_release(struct scheduler *scheduler);

/* The pods of one group under way together: its key is done when the last of them is. */
struct scheduler_pass;
struct scheduler_pass *scheduler_pass_new(struct scheduler *scheduler, const char *key);
void scheduler_pass_unref(struct scheduler_pass *pass);

/* Bind a pod that is assumed on its node, or write why it has none, and which node is being made
 * free for it (NULL: none). Alone (pass NULL), the pod's key in the queue is done when this is. */
void scheduler_bind(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                    struct scheduler_pass *pass);
void scheduler_report(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                      const char *message, const char *nominated, struct scheduler_pass *pass);

/* ---- scheduler_controller.c */

/* The node a pod takes part of, or NULL. */
const char *scheduler_occupied_node(const struct kube_object *pod);

/* ---- scheduler_view.c */

/* The cluster as a pod of this key sees it: with the room of nominees that matter as much as it
 * does taken, and with the other pods where it, or one of them, minds those, or `with_pods`. */
struct scheduler_gathered {
    struct scheduler_view view;
    struct node_usage *copies; /* of nodes with nominees */
    size_t copy_count;
};
void scheduler_gather(struct scheduler *scheduler, struct arena *arena, const char *key,
                      const struct json *pod, bool with_pods, struct scheduler_gathered *ret);
void scheduler_gathered_release(struct scheduler_gathered *gathered);

/* The devices for a pod on its way to the node, as devices.h writes them; NULL: it needs none. */
const char *scheduler_devices(struct scheduler *scheduler, struct arena *arena,
                              const struct json *pod, const char *node);

/* The pod is about to be counted on the node: if the machine behind it has not what all its pods
 * ask for then, the pod says so, and the first time the node. */
void scheduler_report_overcommit(struct scheduler *scheduler, const struct json *pod,
                                 const struct node_usage *asked, const char *node);

/* ---- scheduler_preempt_controller.c */

/* Whether any pod that has a node matters less. */
bool scheduler_has_lower_priority(const struct scheduler *scheduler, int64_t priority);
void scheduler_priority_count(struct scheduler *scheduler, int64_t priority, bool there);
/* No node fits: make one free, or say why not; the key is done when that is. */
void scheduler_try_preempt(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                           const char *message);
void scheduler_nominate(struct scheduler *scheduler, const char *key, const struct json *pod,
                        const char *node);
void scheduler_withdraw_nomination(struct scheduler *scheduler, const char *key);
void scheduler_preempt_release(struct scheduler *scheduler);

/* ---- scheduler_gang_controller.c */

/* The key under which the group of a pod is worked on; NULL: it has none. */
char *scheduler_gang_key_of(struct arena *arena, const struct kube_object *pod);
bool scheduler_gang_is_key(const char *key);
void scheduler_gang_enqueue(struct scheduler *scheduler, const char *namespace_, const char *name);
void scheduler_gang_work(struct scheduler *scheduler, const char *key);
/* Before anything else is decided: room for the rest of groups that were half bound. */
void scheduler_gang_resume(struct scheduler *scheduler);
void scheduler_gang_release(struct scheduler *scheduler);

#endif

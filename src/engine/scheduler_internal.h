/* What the files of the scheduler's controller share: what it knows of the nodes, and how a choice
 * becomes a binding or a condition. Only scheduler_*.c include it. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_INTERNAL_H
#define TRAINYARD_ENGINE_SCHEDULER_INTERNAL_H

#include "base/map.h"
#include "engine/hub.h"
#include "engine/scheduler.h"
#include "kube/workqueue.h"

struct scheduler {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/pod", and "group namespace/name" */
    struct map used;         /* node name → struct node_usage */
    struct map assumed;      /* pod key → struct scheduler_assumption */
    struct map gangs;        /* key of a group that waits → struct scheduler_gang_state */
    bool resumed;            /* groups an earlier scheduler left half bound have their room */
};

/* A pod counts on its node from the choice until the informer shows it there. */
struct scheduler_assumption {
    char *node;
    struct node_usage usage;
    bool sent; /* its binding is under way, or has been answered well */
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

/* Bind a pod that is assumed on its node, or write why it has none. Alone (pass NULL), the pod's
 * key in the queue is done when this is. */
void scheduler_bind(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                    struct scheduler_pass *pass);
void scheduler_report(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                      const char *message, struct scheduler_pass *pass);

/* ---- scheduler_controller.c */

size_t scheduler_gather_nodes(struct scheduler *scheduler, struct arena *arena,
                              struct scheduler_node **ret);

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

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
    struct workqueue *queue; /* keys: "namespace/pod", and "group namespace/name" for a PodGroup */
    /* Node name → struct node_usage: the pods that have the node or are assumed on it. */
    struct map used;
    struct map assumed;  /* pod key → struct scheduler_assumption */
    struct map nominees; /* pod key → struct scheduler_nominee */
    /* How many pods of each priority have a node. */
    VEC(struct scheduler_priority_count) priority_counts;
    size_t affinity_count;    /* pods with pod affinity that have a node, or are assumed on one */
    struct map waiting;       /* pod key → newest version of a pod that waits for a node */
    size_t dependent_waiting; /* how many pods in `waiting` depend on the nodes of other pods */
    struct map gangs;         /* key of a waiting group → struct scheduler_gang_state */
    /* The first decision of this process has begun. Resources have been reserved for the groups
     * that an earlier scheduler process left partly bound, and nominations in the status of pods
     * are not read any more. */
    bool resumed;
};

/* The node that a pod is assumed on. The assumption begins with the decision. It ends when the
 * informer shows that the pod does not wait for this scheduler any more, for example because it is
 * bound or deleted, or when the node or the pod no longer exists. */
struct scheduler_assumption {
    char *node;
    struct node_usage usage;
    char *devices; /* the pod's devices, in the format of devices.h; NULL: none */
    bool has_affinity;
    bool sent; /* the binding is in flight, or has succeeded */
};

/* A pod for which other pods are being preempted. Its resources are reserved on `node`: other pods
 * of the same or a lower priority cannot use them. */
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

/* Returns the usage of the node. Creates an empty usage for a node that has none. */
struct node_usage *scheduler_used_on(struct scheduler *scheduler, const char *node);
/* Returns the pod's assumption, or NULL. First forgets the assumption if its node no longer exists
 * and `sent` is false. */
struct scheduler_assumption *scheduler_assumed(struct scheduler *scheduler, const char *key);
/* Assumes the pod on the node: counts its requests there, chooses its devices and withdraws its
 * nomination. Writes an event if the machine of the node is overcommitted. */
void scheduler_assume(struct scheduler *scheduler, const char *key, const struct json *pod,
                      const char *node);
/* Removes the pod's assumption and subtracts its requests from the node. Does nothing if the pod
 * has no assumption. */
void scheduler_forget(struct scheduler *scheduler, const char *key);
void scheduler_bind_release(struct scheduler *scheduler);

/* One pass over a group: the API calls in flight for its pods. Each call holds a reference. When
 * the last reference is dropped, the work on the group's key in the queue ends; it is retried if a
 * call has failed. The caller of scheduler_pass_new() owns the first reference. */
struct scheduler_pass;
struct scheduler_pass *scheduler_pass_new(struct scheduler *scheduler, const char *key);
void scheduler_pass_unref(struct scheduler_pass *pass);

/* Starts to bind the pod to the node of its assumption, and returns at once. The assumption must
 * exist. `pass` is the pass of the pod's group. If `pass` is NULL, the work on the pod's key in the
 * queue ends when the API call has been answered. */
void scheduler_bind(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                    struct scheduler_pass *pass);
/* Starts to write into the pod's status why the pod has no node, and which node preemption clears
 * for it (`nominated`; NULL: none). Also writes an event if the message is new. Returns at once.
 * `pass` is used as in scheduler_bind(). If the status is up to date already, writes nothing. */
void scheduler_report(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                      const char *message, const char *nominated, struct scheduler_pass *pass);

/* ---- controller.c */

/* Returns the node whose resources the pod uses. Returns NULL if `pod` is NULL, has no node, or has
 * ended. */
const char *scheduler_occupied_node(const struct kube_object *pod);

/* ---- view.c */

/* A view of the cluster for the decision about one pod. */
struct scheduler_gathered {
    struct scheduler_view view;
    /* The usage of the nodes that have nominees, including the nominees. */
    struct node_usage *copies;
    size_t copy_count;
};
/* Makes the view for the pod of this key. The resources of other nominees of the same or a higher
 * priority count as used. The view contains the placed pods if `with_pods` is set, if this pod
 * depends on other pods, or if a placed pod has pod affinity. The caller calls
 * scheduler_gathered_release(). */
void scheduler_gather(struct scheduler *scheduler, struct arena *arena, const char *key,
                      const struct json *pod, bool with_pods, struct scheduler_gathered *ret);
void scheduler_gathered_release(struct scheduler_gathered *gathered);

/* Returns the devices that the pod gets on the node, in the format of devices.h, or NULL if the pod
 * needs none. Enough devices must be free. */
const char *scheduler_devices(struct scheduler *scheduler, struct arena *arena,
                              const struct json *pod, const char *node);

/* Checks whether all pods of the node's machine and this pod together request more than the machine
 * has. If so, writes an event on the pod if it requests cpu or memory, and on the node if the
 * machine had enough without this pod. Must be called before the pod is counted on the node. */
void scheduler_report_overcommit(struct scheduler *scheduler, const struct json *pod,
                                 const struct node_usage *requests, const char *node);

/* ---- preempt_controller.c */

/* Returns whether a pod that has a node has a lower priority than `priority`. */
bool scheduler_has_lower_priority(const struct scheduler *scheduler, int64_t priority);
/* Adds one pod of this priority to the counts if `added` is true; otherwise subtracts one. */
void scheduler_count_priority(struct scheduler *scheduler, int64_t priority, bool added);
/* Called if no node fits. Starts to preempt pods if that helps, and to report why the pod waits
 * (`message`). Returns at once. The work on the pod's key in the queue ends when the report is
 * written. */
void scheduler_try_preempt(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                           const char *message);
/* Reserves the pod's resources on the node, instead of an earlier nomination of the pod. */
void scheduler_nominate(struct scheduler *scheduler, const char *key, const struct json *pod,
                        const char *node);
/* Removes the pod's nomination, if there is one. */
void scheduler_withdraw_nomination(struct scheduler *scheduler, const char *key);
void scheduler_preempt_release(struct scheduler *scheduler);

/* ---- gang_controller.c */

/* Returns the key of the pod's group in the queue, or NULL if the pod has no group. */
char *scheduler_gang_key_of(struct arena *arena, const struct kube_object *pod);
bool scheduler_gang_is_key(const char *key);
/* Queues the group after a short delay, so that pods that are created together are placed together.
 */
void scheduler_gang_enqueue(struct scheduler *scheduler, const char *namespace_, const char *name);
/* Starts one pass over the group: places its waiting pods, binds them, and reports why the others
 * wait. The work on the key ends when all API calls have been answered. */
void scheduler_gang_work(struct scheduler *scheduler, const char *key);
/* Reserves resources for the waiting members of groups of which some members, but fewer than
 * spec.minMember, have a node. Must run before the first decision. */
void scheduler_gang_resume(struct scheduler *scheduler);
void scheduler_gang_release(struct scheduler *scheduler);

#endif

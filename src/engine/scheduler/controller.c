/* Calls scheduler_pick() with the state of the informers and binds pods to the chosen nodes. A
 * binding does not wait for earlier bindings. A pod counts on its node as soon as the node is
 * chosen, before the informer shows it there, so that many new pods spread over the nodes. A pod
 * that fits on no node gets a condition and an event, and other pods are preempted if that helps
 * (preempt_controller.c). The pod is tried again when a node changes or a pod frees its node. Pods
 * of a group are placed together (gang_controller.c). */
#include "engine/scheduler/controller.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/gang.h"
#include "engine/scheduler/internal.h"
#include "engine/scheduler/pod_affinity.h"
#include "engine/scheduler/preempt.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum {
    PARALLEL = 64,    /* the most keys of the queue that are worked on at the same time */
    UNSYNCED_MS = 20, /* the delay of a key if an informer has not listed its objects yet */
};

const char *scheduler_occupied_node(const struct kube_object *pod)
{
    if (!pod)
        return NULL;
    const char *phase = json_get_string(json_get(pod->json, "status"), "phase", "");
    const char *node = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
    bool ended = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
    return node[0] && !ended ? node : NULL;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Returns whether the informers have listed all objects that decisions depend on. */
static bool is_synced(struct scheduler *scheduler)
{
    return kube_informer_synced(hub_informer(scheduler->hub, "nodes")) &&
           kube_informer_synced(hub_informer(scheduler->hub, "pods")) &&
           kube_informer_synced(hub_informer(scheduler->hub, "namespaces")) &&
           kube_informer_synced(hub_informer(scheduler->hub, "podgroups.scheduling.x-k8s.io"));
}

static void work_on_pod(struct scheduler *scheduler, const char *key)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_object *pod = kube_informer_find(hub_informer(scheduler->hub, "pods"), key);
    const struct scheduler_assumption *assumption = scheduler_assumed(scheduler, key);
    if (!pod || !scheduler_is_responsible(pod->json) || (assumption && assumption->sent) ||
        scheduler_gang_key_of(arena, pod)) {
        workqueue_done(scheduler->queue, key, false);
        return;
    }
    if (assumption) {
        scheduler_bind(scheduler, key, pod, NULL);
        return;
    }
    struct scheduler_gathered gathered;
    struct scheduler_choice choice;
    scheduler_gather(scheduler, arena, key, pod->json, false, &gathered);
    scheduler_pick(arena, pod->json, &gathered.view, &choice);
    if (choice.node) {
        scheduler_assume(scheduler, key, pod->json, choice.node);
        scheduler_bind(scheduler, key, pod, NULL);
    } else if (gathered.view.count > 0) {
        scheduler_try_preempt(scheduler, key, pod, choice.message);
    } else {
        scheduler_report(scheduler, key, pod, choice.message, NULL, NULL);
    }
    scheduler_gathered_release(&gathered);
}

static void scheduler_work(void *context, const char *key)
{
    struct scheduler *scheduler = context;
    if (!is_synced(scheduler)) {
        workqueue_defer(scheduler->queue, key, UNSYNCED_MS);
        return;
    }
    if (!scheduler->resumed)
        scheduler_gang_resume(scheduler);
    scheduler->resumed = true;
    if (scheduler_gang_is_key(key))
        scheduler_gang_work(scheduler, key);
    else
        work_on_pod(scheduler, key);
}

/* ---- Changes of objects ---------------------------------------------------------------------- */

static void scheduler_enqueue(struct scheduler *scheduler, const struct kube_object *pod)
{
    const char *group = kube_meta_label(pod->json, SCHEDULER_GANG_LABEL);
    if (!str_is_empty(group)) {
        scheduler_gang_enqueue(scheduler, pod->namespace_, group);
        return;
    }
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    workqueue_add(scheduler->queue, key);
}

/* Sorts by priority, the highest first; then by age, the oldest first. */
static int compare_urgency(const void *a, const void *b)
{
    const struct kube_object *const *x = a, *const *y = b;
    int64_t left = scheduler_priority((*x)->json), right = scheduler_priority((*y)->json);
    if (left != right)
        return left > right ? -1 : 1;
    left = kube_meta_created_ms((*x)->json);
    right = kube_meta_created_ms((*y)->json);
    if (left != right)
        return left < right ? -1 : 1;
    return strcmp((*x)->name, (*y)->name);
}

static bool is_any(const struct json *pod)
{
    return true;
}

/* Queues the waiting pods for which `applies` returns true, the most urgent pod first. */
static void scheduler_recheck(struct scheduler *scheduler, bool (*applies)(const struct json *pod))
{
    const char *key;
    void *pod;
    VEC(struct kube_object *) waiting = {0};
    for (size_t at = 0; map_next(&scheduler->waiting, &at, &key, &pod);)
        if (applies(((struct kube_object *)pod)->json))
            vec_push(&waiting, pod);
    if (waiting.count > 1)
        qsort(waiting.items, waiting.count, sizeof(*waiting.items), compare_urgency);
    for (size_t i = 0; i < waiting.count; i++)
        scheduler_enqueue(scheduler, waiting.items[i]);
    vec_release(&waiting);
}

/* Adds the pod to the node's usage and to the scheduler's counts if `added` is true; otherwise
 * subtracts it. */
static void count_pod(struct scheduler *scheduler, const struct json *pod, const char *node,
                      bool added)
{
    struct node_usage usage;
    size_t has_affinity = pod_affinity_is_given(pod);
    node_usage_of_pod(pod, &usage);
    if (added) {
        node_usage_add(scheduler_used_on(scheduler, node), &usage);
        scheduler->affinity_count += has_affinity;
    } else {
        node_usage_subtract(scheduler_used_on(scheduler, node), &usage);
        scheduler->affinity_count -= has_affinity;
    }
    scheduler_count_priority(scheduler, scheduler_priority(pod), added);
    node_usage_release(&usage);
}

/* Takes over the nomination that an earlier scheduler process wrote into the pod's status. Does
 * nothing after the first decision of this process. */
static void scheduler_renominate(struct scheduler *scheduler, const struct kube_object *pod)
{
    const char *node = json_get_string(json_get(pod->json, "status"), "nominatedNodeName", "");
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    if (node[0] && !scheduler->resumed)
        scheduler_nominate(scheduler, key, pod->json, node);
}

/* Keeps the newest version of a waiting pod, or drops a pod that no longer waits. */
static void note_waiting(struct scheduler *scheduler, const char *key, struct kube_object *pod)
{
    struct kube_object *before = pod && scheduler_is_responsible(pod->json)
                                     ? map_put(&scheduler->waiting, key, kube_object_ref(pod))
                                     : map_remove(&scheduler->waiting, key);
    if (before)
        kube_object_unref(before);
}

static bool depends_on_pods(const struct kube_object *pod)
{
    return pod && scheduler_is_responsible(pod->json) && scheduler_depends_on_pods(pod->json);
}

static bool has_same_place(const struct kube_object *old, const struct kube_object *new_)
{
    const struct json *a = old ? kube_meta_labels(old->json) : NULL;
    const struct json *b = kube_meta_labels(new_->json);
    return str_eq(scheduler_occupied_node(old), scheduler_occupied_node(new_)) && !a == !b &&
           (!a || json_equal(a, b));
}

static void on_scheduler_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct scheduler *scheduler = self;
    const char *before = scheduler_occupied_node(old), *after = scheduler_occupied_node(new_);
    const struct kube_object *either = new_ ? new_ : old;
    _cleanup_free_ char *key = mem_printf("%s/%s", either->namespace_, either->name);
    note_waiting(scheduler, key, new_);
    if (before)
        count_pod(scheduler, old->json, before, false);
    if (after)
        count_pod(scheduler, new_->json, after, true);
    scheduler->dependent_waiting += depends_on_pods(new_);
    scheduler->dependent_waiting -= depends_on_pods(old);
    if (after && scheduler->dependent_waiting > 0 && !has_same_place(old, new_))
        /* A pod was placed, or the labels of a placed pod changed. */
        scheduler_recheck(scheduler, scheduler_depends_on_pods);
    if (before && !after)
        scheduler_recheck(scheduler, is_any); /* resources are free again */
    bool replaced = old && new_ && !str_eq(old->uid, new_->uid);
    if (!new_ || replaced || !scheduler_is_responsible(new_->json)) {
        scheduler_forget(scheduler, key);
        scheduler_withdraw_nomination(scheduler, key);
    } else if (str_is_empty(kube_meta_label(new_->json, SCHEDULER_GANG_LABEL))) {
        scheduler_renominate(scheduler, new_);
    }
    const char *left = old && new_ ? kube_meta_label(old->json, SCHEDULER_GANG_LABEL) : NULL;
    if (!str_is_empty(left) && !str_eq(left, kube_meta_label(new_->json, SCHEDULER_GANG_LABEL)))
        scheduler_gang_enqueue(scheduler, old->namespace_, left);
    /* Every change of a group's member counts: the group may be complete now, or have lost a
     * member. */
    if ((new_ && scheduler_is_responsible(new_->json)) ||
        !str_is_empty(kube_meta_label(either->json, SCHEDULER_GANG_LABEL)))
        scheduler_enqueue(scheduler, either);
}

/* Returns whether waiting pods must be tried again because of the change. Only the spec, the
 * labels, the allocatable resources and the condition Ready count. Heartbeats change the rest of
 * the status often. */
static bool node_matters(const struct kube_object *old, const struct kube_object *new_)
{
    if (!old || !new_)
        return true;
    const struct json *a = json_get(old->json, "spec"), *b = json_get(new_->json, "spec");
    if (!a != !b || (a && !json_equal(a, b)))
        return true;
    a = json_at(old->json, "status", "allocatable", NULL);
    b = json_at(new_->json, "status", "allocatable", NULL);
    if (!a != !b || (a && !json_equal(a, b)))
        return true;
    a = kube_meta_labels(old->json);
    b = kube_meta_labels(new_->json);
    if (!a != !b || (a && !json_equal(a, b)))
        return true;
    return kube_condition_is_true(old->json, "Ready") !=
           kube_condition_is_true(new_->json, "Ready");
}

static void on_scheduler_node_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (node_matters(old, new_))
        scheduler_recheck(self, is_any);
}

static void on_scheduler_group_changed(void *self, struct kube_object *old,
                                       struct kube_object *new_)
{
    const struct kube_object *group = new_ ? new_ : old;
    scheduler_gang_enqueue(self, group->namespace_, group->name);
}

static void *scheduler_controller_start(struct hub *hub)
{
    struct scheduler *scheduler = mem_zalloc(sizeof(*scheduler));
    scheduler->hub = hub;
    scheduler->queue = workqueue_new(hub_loop(hub), PARALLEL, scheduler_work, scheduler);
    map_init(&scheduler->used);
    map_init(&scheduler->waiting);
    map_init(&scheduler->assumed);
    map_init(&scheduler->nominees);
    map_init(&scheduler->gangs);
    return scheduler;
}

static void scheduler_controller_stop(void *self)
{
    struct scheduler *scheduler = self;
    const char *key;
    void *pod;
    workqueue_free(scheduler->queue);
    for (size_t at = 0; map_next(&scheduler->waiting, &at, &key, &pod);)
        kube_object_unref(pod);
    map_release(&scheduler->waiting);
    scheduler_gang_release(scheduler);
    scheduler_preempt_release(scheduler);
    scheduler_bind_release(scheduler);
    free(scheduler);
}

static const struct controller_watch SCHEDULER_WATCHES[] = {
    {"pods", on_scheduler_pod_changed},
    {"nodes", on_scheduler_node_changed},
    {"podgroups.scheduling.x-k8s.io", on_scheduler_group_changed},
    {NULL, NULL},
};

const struct controller SCHEDULER_CONTROLLER = {
    .start = scheduler_controller_start,
    .stop = scheduler_controller_stop,
    .watches = SCHEDULER_WATCHES,
};

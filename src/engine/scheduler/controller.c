/* Feeds scheduler_pick() with what the informers know and binds pods to what it chose. Bindings run
 * in parallel; a node counts the pods it was just given before the informer has seen them, so that
 * a burst of pods spreads. A pod that fits nowhere says so in its condition and an event, and is
 * looked at again whenever a node changes or a pod ends. Pods of a group are decided on together
 * (scheduler_gang_controller.c). */
#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/gang.h"
#include "engine/scheduler/internal.h"
#include "engine/scheduler/pod_affinity.h"
#include "engine/scheduler/preempt.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 64, UNSYNCED_MS = 20 };

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

/* What is decided on has been read. */
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
    if (!pod || !scheduler_wants(pod->json) || (assumption && assumption->sent) ||
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
        scheduler_make_room(scheduler, key, pod, choice.message);
    } else {
        scheduler_report(scheduler, key, pod, choice.message, NULL, NULL);
    }
    scheduler_gathered_release(&gathered);
}

static void work(void *context, const char *key)
{
    struct scheduler *scheduler = context;
    if (!is_synced(scheduler)) {
        workqueue_put_off(scheduler->queue, key, UNSYNCED_MS);
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

/* ---- Hearing --------------------------------------------------------------------------------- */

static void enqueue(struct scheduler *scheduler, const struct kube_object *pod)
{
    const char *group = kube_meta_label(pod->json, SCHEDULER_GANG_LABEL);
    if (!str_is_empty(group)) {
        scheduler_gang_enqueue(scheduler, pod->namespace_, group);
        return;
    }
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    workqueue_add(scheduler->queue, key);
}

/* The more important first, then those that have waited for longer. */
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

/* Look again at the pods that wait, or at those of them for which `counts` holds. */
static void recheck(struct scheduler *scheduler, bool (*counts)(const struct json *pod))
{
    const char *key;
    void *pod;
    VEC(struct kube_object *) waiting = {0};
    for (size_t at = 0; map_next(&scheduler->waiting, &at, &key, &pod);)
        if (counts(((struct kube_object *)pod)->json))
            vec_push(&waiting, pod);
    if (waiting.count > 1)
        qsort(waiting.items, waiting.count, sizeof(*waiting.items), compare_urgency);
    for (size_t i = 0; i < waiting.count; i++)
        enqueue(scheduler, waiting.items[i]);
    vec_release(&waiting);
}

/* Count the pod on its node, or no longer. */
static void count_pod(struct scheduler *scheduler, const struct json *pod, const char *node,
                      bool there)
{
    struct node_usage usage;
    size_t particular = pod_affinity_is_given(pod);
    node_usage_of_pod(pod, &usage);
    if (there) {
        node_usage_add(scheduler_used_on(scheduler, node), &usage);
        scheduler->particular += particular;
    } else {
        node_usage_subtract(scheduler_used_on(scheduler, node), &usage);
        scheduler->particular -= particular;
    }
    scheduler_rank(scheduler, scheduler_priority(pod), there);
    node_usage_release(&usage);
}

/* What an earlier scheduler has made room for. */
static void renominate(struct scheduler *scheduler, const struct kube_object *pod)
{
    const char *node = json_get_string(json_get(pod->json, "status"), "nominatedNodeName", "");
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    if (node[0] && !scheduler->resumed)
        scheduler_nominate(scheduler, key, pod->json, node);
}

/* Keep the newest version of a pod that waits, or forget one that does no longer. */
static void note_waiting(struct scheduler *scheduler, const char *key, struct kube_object *pod)
{
    struct kube_object *before = pod && scheduler_wants(pod->json)
                                     ? map_put(&scheduler->waiting, key, kube_object_ref(pod))
                                     : map_remove(&scheduler->waiting, key);
    if (before)
        kube_object_unref(before);
}

static bool is_choosy(const struct kube_object *pod)
{
    return pod && scheduler_wants(pod->json) && scheduler_minds_pods(pod->json);
}

static bool has_same_place(const struct kube_object *old, const struct kube_object *new_)
{
    const struct json *a = old ? kube_meta_labels(old->json) : NULL;
    const struct json *b = kube_meta_labels(new_->json);
    return str_eq(scheduler_occupied_node(old), scheduler_occupied_node(new_)) && !a == !b &&
           (!a || json_equal(a, b));
}

static void pod_changed(struct scheduler *scheduler, struct kube_object *old,
                        struct kube_object *new_)
{
    const char *before = scheduler_occupied_node(old), *after = scheduler_occupied_node(new_);
    const struct kube_object *either = new_ ? new_ : old;
    _cleanup_free_ char *key = mem_printf("%s/%s", either->namespace_, either->name);
    note_waiting(scheduler, key, new_);
    if (before)
        count_pod(scheduler, old->json, before, false);
    if (after)
        count_pod(scheduler, new_->json, after, true);
    scheduler->choosy += is_choosy(new_);
    scheduler->choosy -= is_choosy(old);
    if (after && scheduler->choosy > 0 && !has_same_place(old, new_))
        recheck(scheduler, scheduler_minds_pods); /* a neighbour has come, or is another now */
    if (before && !after)
        recheck(scheduler, is_any); /* there is room again */
    bool another = old && new_ && !str_eq(old->uid, new_->uid);
    if (!new_ || another || !scheduler_wants(new_->json)) {
        scheduler_forget(scheduler, key);
        scheduler_withdraw(scheduler, key);
    } else if (str_is_empty(kube_meta_label(new_->json, SCHEDULER_GANG_LABEL))) {
        renominate(scheduler, new_);
    }
    const char *left = old && new_ ? kube_meta_label(old->json, SCHEDULER_GANG_LABEL) : NULL;
    if (!str_is_empty(left) && !str_eq(left, kube_meta_label(new_->json, SCHEDULER_GANG_LABEL)))
        scheduler_gang_enqueue(scheduler, old->namespace_, left);
    /* Of a group, every change counts: it may be complete now, or have lost a member. */
    if ((new_ && scheduler_wants(new_->json)) ||
        !str_is_empty(kube_meta_label(either->json, SCHEDULER_GANG_LABEL)))
        enqueue(scheduler, either);
}

/* A node's heartbeat changes its status all the time; pods care for the rest and for Ready. */
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

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (str_eq(resource->storage, "pods"))
        pod_changed(self, old, new_);
    else if (str_eq(resource->storage, "nodes") && node_matters(old, new_))
        recheck(self, is_any);
    else if (str_eq(resource->storage, "podgroups.scheduling.x-k8s.io"))
        scheduler_gang_enqueue(self, (new_ ? new_ : old)->namespace_, (new_ ? new_ : old)->name);
}

static void *start(struct hub *hub)
{
    struct scheduler *scheduler = mem_zalloc(sizeof(*scheduler));
    scheduler->hub = hub;
    scheduler->queue = workqueue_new(hub_loop(hub), PARALLEL, work, scheduler);
    map_init(&scheduler->used);
    map_init(&scheduler->waiting);
    map_init(&scheduler->assumed);
    map_init(&scheduler->nominees);
    map_init(&scheduler->gangs);
    return scheduler;
}

static void stop(void *self)
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

const struct controller SCHEDULER_CONTROLLER = {start, changed, stop};

/* Builds the view of the cluster for the pure functions: the state of the informers, and the
 * scheduler's decisions that the informers do not show yet. Also chooses the devices of a pod and
 * reports overcommitted machines. See internal.h. */
#include "engine/scheduler/internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/overcommit.h"
#include "engine/scheduler/preempt.h"
#include "kube/devices.h"
#include "kube/object.h"

static void gather_nodes(struct scheduler *scheduler, struct arena *arena,
                         struct scheduler_gathered *ret)
{
    struct kube_informer *informer = hub_informer(scheduler->hub, "nodes");
    size_t count = kube_informer_count(informer), filled = 0;
    struct kube_object *node;
    struct scheduler_node *nodes = ARENA_ARRAY(arena, struct scheduler_node, count + 1);
    for (size_t at = 0; filled < count && (node = kube_informer_next(informer, NULL, &at));)
        nodes[filled++] = (struct scheduler_node){
            .name = node->name,
            .node = node->json,
            .used = scheduler_used_on(scheduler, node->name),
        };
    ret->view.nodes = nodes;
    ret->view.count = filled;
}

/* Counts the resources of nominees as used, except those of the pod itself and of nominees with a
 * lower priority than the pod. */
static void view_reserve(struct scheduler *scheduler, struct arena *arena, const char *key,
                         int64_t priority, struct scheduler_gathered *ret)
{
    struct scheduler_node *nodes = (struct scheduler_node *)ret->view.nodes;
    /* Per node: 1 plus the index of its usage in ret->copies; 0: no copy. */
    size_t *copy_of = ARENA_ARRAY(arena, size_t, ret->view.count + 1);
    const char *nominee_key;
    void *value;
    ret->copies = ARENA_ARRAY(arena, struct node_usage, ret->view.count + 1);
    for (size_t at = 0; map_next(&scheduler->nominees, &at, &nominee_key, &value);) {
        const struct scheduler_nominee *nominee = value;
        if (str_eq(nominee_key, key) || nominee->priority < priority)
            continue;
        for (size_t i = 0; i < ret->view.count; i++) {
            if (!str_eq(nodes[i].name, nominee->node))
                continue;
            if (!copy_of[i]) {
                copy_of[i] = ++ret->copy_count;
                node_usage_add(&ret->copies[copy_of[i] - 1], nodes[i].used);
                nodes[i].used = &ret->copies[copy_of[i] - 1];
            }
            node_usage_add(&ret->copies[copy_of[i] - 1], &nominee->usage);
        }
    }
}

static void view_place_pod(struct scheduler_view *view, const struct map *positions,
                           const char *node, const struct json *pod)
{
    const struct scheduler_node *at = map_get(positions, node);
    struct scheduler_placed *pods = (struct scheduler_placed *)view->pods;
    if (at)
        pods[view->pod_count++] =
            (struct scheduler_placed){.pod = pod, .node = (size_t)(at - view->nodes)};
}

static void view_gather_pods(struct scheduler *scheduler, struct arena *arena,
                             struct scheduler_view *view)
{
    struct kube_informer *informer = hub_informer(scheduler->hub, "pods");
    struct map positions;
    struct kube_object *pod;
    const char *key;
    void *value;
    map_init(&positions);
    for (size_t i = 0; i < view->count; i++)
        map_put(&positions, view->nodes[i].name, (void *)&view->nodes[i]);
    view->pods = ARENA_ARRAY(arena, struct scheduler_placed, kube_informer_count(informer) + 1);
    for (size_t at = 0; (pod = kube_informer_next(informer, NULL, &at));) {
        const char *node = scheduler_occupied_node(pod);
        if (node)
            view_place_pod(view, &positions, node, pod->json);
    }
    for (size_t at = 0; map_next(&scheduler->assumed, &at, &key, &value);) {
        pod = kube_informer_find(informer, key);
        if (pod && !scheduler_occupied_node(pod))
            view_place_pod(view, &positions, ((struct scheduler_assumption *)value)->node,
                           pod->json);
    }
    map_release(&positions);
}

static struct json *gather_namespaces(struct scheduler *scheduler, struct arena *arena)
{
    struct kube_informer *informer = hub_informer(scheduler->hub, "namespaces");
    struct json *all = json_object(arena);
    struct kube_object *namespace_;
    for (size_t at = 0; (namespace_ = kube_informer_next(informer, NULL, &at));) {
        json_set(arena, all, namespace_->name,
                 json_clone_object(arena, kube_meta_labels(namespace_->json)));
    }
    return all;
}

void scheduler_gather(struct scheduler *scheduler, struct arena *arena, const char *key,
                      const struct json *pod, bool with_pods, struct scheduler_gathered *ret)
{
    *ret = (struct scheduler_gathered){0};
    gather_nodes(scheduler, arena, ret);
    if (scheduler->nominees.count > 0)
        view_reserve(scheduler, arena, key, scheduler_priority(pod), ret);
    if (!with_pods && scheduler->affinity_count == 0 && !scheduler_depends_on_pods(pod))
        return;
    view_gather_pods(scheduler, arena, &ret->view);
    ret->view.namespaces = gather_namespaces(scheduler, arena);
}

void scheduler_gathered_release(struct scheduler_gathered *gathered)
{
    for (size_t i = 0; i < gathered->copy_count; i++)
        node_usage_release(&gathered->copies[i]);
    gathered->copy_count = 0;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static const struct json *find_node(struct scheduler *scheduler, const char *name)
{
    const struct kube_object *node =
        kube_informer_get(hub_informer(scheduler->hub, "nodes"), "", name);
    return node ? node->json : NULL;
}

/* The devices of other pods that have a node on the same machine, or are assumed on one, are not
 * free. */
const char *scheduler_devices(struct scheduler *scheduler, struct arena *arena,
                              const struct json *pod, const char *node)
{
    struct kube_informer *pods = hub_informer(scheduler->hub, "pods");
    const struct json *here = find_node(scheduler, node), *there;
    struct kube_devices devices = {0};
    struct kube_object *other;
    const char *key;
    void *value;
    for (size_t at = 0; (other = kube_informer_next(pods, NULL, &at));) {
        const char *held = kube_meta_annotation(other->json, KUBE_DEVICES_ANNOTATION);
        const char *on = held ? scheduler_occupied_node(other) : NULL;
        if (on && (there = find_node(scheduler, on)) && overcommit_is_one_machine(here, there))
            kube_devices_take(&devices, held);
    }
    for (size_t at = 0; map_next(&scheduler->assumed, &at, &key, &value);) {
        const struct scheduler_assumption *assumption = value;
        if ((there = find_node(scheduler, assumption->node)) &&
            overcommit_is_one_machine(here, there))
            kube_devices_take(&devices, assumption->devices);
    }
    return kube_devices_assign(arena, pod, &devices);
}

/* ---- Overcommitment -------------------------------------------------------------------------- */

void scheduler_report_overcommit(struct scheduler *scheduler, const struct json *pod,
                                 const struct node_usage *requests, const char *node)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct node_usage nothing = {0};
    struct kube_client *client = hub_client(scheduler->hub);
    struct scheduler_gathered gathered = {0};
    gather_nodes(scheduler, arena, &gathered);
    for (size_t i = 0; i < gathered.view.count; i++) {
        if (!str_eq(gathered.view.nodes[i].name, node))
            continue;
        const char *message = overcommit_message(arena, &gathered.view, i, requests);
        if (message && (requests->cpu_milli > 0 || requests->memory_bytes > 0))
            kube_event(client, pod, "default-scheduler", "Warning", "OverCommitted", "%s", message);
        if (message && !overcommit_message(arena, &gathered.view, i, &nothing))
            kube_event(client, gathered.view.nodes[i].node, "default-scheduler", "Warning",
                       "OverCommitted", "%s", message);
    }
}

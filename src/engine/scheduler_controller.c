/* Feeds scheduler_pick() with what the informers know and binds pods to what it chose. Bindings run
 * in parallel; a node counts the pods it was just given before the informer has seen them, so that
 * a burst of pods spreads. A pod that fits nowhere says so in its condition and an event, and is
 * looked at again whenever a node changes or a pod ends. */
#include "base/map.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "engine/hub.h"
#include "engine/scheduler.h"
#include "kube/object.h"
#include "kube/workqueue.h"

#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 64, UNSYNCED_MS = 20 };

static const char COMPONENT[] = "default-scheduler";

struct scheduler {
    struct hub *hub;
    struct workqueue *queue;
    struct map used;    /* node name → struct node_usage */
    struct map assumed; /* pod key → struct assumption */
};

/* A pod counts on its node from the choice until the informer shows it there. */
struct assumption {
    char *node;
    struct node_usage usage;
};

/* One pod on its way to a node, or to its condition. */
struct placement {
    struct hub_task task;
    struct scheduler *scheduler;
    char *key;
    char *node; /* NULL: only its condition is written */
    struct kube_object *pod;
};

static struct node_usage *used_on(struct scheduler *scheduler, const char *node)
{
    struct node_usage *used = map_get(&scheduler->used, node);
    if (!used) {
        used = mem_zalloc(sizeof(*used));
        map_put(&scheduler->used, node, used);
    }
    return used;
}

/* The node a pod takes part of, or NULL. */
static const char *occupied_node(const struct kube_object *pod)
{
    if (!pod)
        return NULL;
    const char *phase = json_get_string(json_get(pod->json, "status"), "phase", "");
    const char *node = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
    bool ended = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
    return node[0] && !ended ? node : NULL;
}

static void assumption_free(struct assumption *assumption)
{
    node_usage_release(&assumption->usage);
    free(assumption->node);
    free(assumption);
}

static void forget_assumed(struct scheduler *scheduler, const char *key)
{
    struct assumption *assumption = map_remove(&scheduler->assumed, key);
    if (!assumption)
        return;
    node_usage_subtract(used_on(scheduler, assumption->node), &assumption->usage);
    assumption_free(assumption);
}

static void assume(struct scheduler *scheduler, const char *key, const struct json *pod,
                   const char *node)
{
    struct assumption *assumption = mem_zalloc(sizeof(*assumption));
    forget_assumed(scheduler, key);
    assumption->node = mem_strdup(node);
    node_usage_of_pod(pod, &assumption->usage);
    node_usage_add(used_on(scheduler, node), &assumption->usage);
    map_put(&scheduler->assumed, key, assumption);
}

/* ---- Acting ---------------------------------------------------------------------------------- */

static void placement_release(struct hub_task *task)
{
    struct placement *placement = CONTAINER_OF(task, struct placement, task);
    kube_object_unref(placement->pod);
    free(placement->key);
    free(placement->node);
    free(placement);
}

static void placement_end(struct placement *placement, bool failed)
{
    workqueue_done(placement->scheduler->queue, placement->key, failed);
    hub_task_end(&placement->task);
}

static struct placement *placement_new(struct scheduler *scheduler, const char *key,
                                       struct kube_object *pod, const char *node)
{
    struct placement *placement = mem_zalloc(sizeof(*placement));
    hub_task_begin(scheduler->hub, &placement->task, placement_release);
    placement->scheduler = scheduler;
    placement->key = mem_strdup(key);
    placement->node = node ? mem_strdup(node) : NULL;
    placement->pod = kube_object_ref(pod);
    return placement;
}

static void bound(void *context, struct json *object, const struct err *err)
{
    struct placement *placement = context;
    struct scheduler *scheduler = placement->scheduler;
    /* Gone or bound by somebody else: the informer will say so. */
    bool settled = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    if (err)
        forget_assumed(scheduler, placement->key);
    else
        kube_event(hub_client(scheduler->hub), placement->pod->json, COMPONENT, "Normal",
                   "Scheduled", "Successfully assigned %s to %s", placement->key, placement->node);
    placement_end(placement, err && !settled);
}

/* The binding is a subresource one creates, so to the client it is a resource below the pod. */
static void bind_pod(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                     const char *node)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_resource binding = {
        .group = "",
        .version = "v1",
        .plural = arena_printf(arena, "pods/%s/binding", pod->name),
        .kind = "Binding",
        .namespaced = true,
    };
    struct json *body = kube_object_make(arena, &binding, pod->namespace_, pod->name);
    struct json *target = json_ensure_object(arena, body, "target");
    json_set_string(arena, target, "apiVersion", "v1");
    json_set_string(arena, target, "kind", "Node");
    json_set_string(arena, target, "name", node);
    assume(scheduler, key, pod->json, node);
    kube_create(hub_client(scheduler->hub), &binding, pod->namespace_, body, bound,
                placement_new(scheduler, key, pod, node));
}

static void condition_written(void *context, struct json *object, const struct err *err)
{
    placement_end(context, err && err->code != ERR_NOT_FOUND);
}

/* The conditions of the pod with PodScheduled saying why not; NULL if it says so already. */
static struct json *unscheduled_conditions(struct arena *arena, const struct json *pod,
                                           const char *message, int64_t now_ms)
{
    const struct json *old = kube_condition_get(pod, "PodScheduled");
    if (old && str_eq(json_get_string(old, "status", ""), "False") &&
        str_eq(json_get_string(old, "message", ""), message))
        return NULL;
    struct json *conditions = json_array(arena);
    JSON_EACH (other, json_at(pod, "status", "conditions", NULL)) {
        if (!str_eq(json_get_string(other, "type", ""), "PodScheduled"))
            json_append(conditions, json_clone(arena, other));
    }
    char now[MOMENT_TEXT_MAX];
    moment_format(now_ms, now);
    struct json *condition = json_object(arena);
    json_set_string(arena, condition, "type", "PodScheduled");
    json_set_string(arena, condition, "status", "False");
    json_set_string(arena, condition, "reason", "Unschedulable");
    json_set_string(arena, condition, "message", message);
    json_set_string(arena, condition, "lastTransitionTime", now);
    json_append(conditions, condition);
    return conditions;
}

static void report_unschedulable(struct scheduler *scheduler, const char *key,
                                 struct kube_object *pod, const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *conditions =
        unscheduled_conditions(arena, pod->json, message, loop_wall_ms(hub_loop(scheduler->hub)));
    if (!conditions) {
        workqueue_done(scheduler->queue, key, false);
        return;
    }
    kube_event(hub_client(scheduler->hub), pod->json, COMPONENT, "Warning", "FailedScheduling",
               "%s", message);
    struct json *patch = json_object(arena);
    json_set(arena, json_ensure_object(arena, patch, "status"), "conditions", conditions);
    kube_patch(hub_client(scheduler->hub), &KUBE_PODS, pod->namespace_, pod->name, "status", patch,
               condition_written, placement_new(scheduler, key, pod, NULL));
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static size_t gather_nodes(struct scheduler *scheduler, struct arena *arena,
                           struct scheduler_node **ret)
{
    struct kube_informer *informer = hub_informer(scheduler->hub, "nodes");
    size_t count = 0;
    struct kube_object *node;
    for (size_t at = 0; kube_informer_next(informer, NULL, &at);)
        count++;
    struct scheduler_node *nodes = ARENA_ARRAY(arena, struct scheduler_node, count + 1);
    size_t filled = 0;
    for (size_t at = 0; filled < count && (node = kube_informer_next(informer, NULL, &at));)
        nodes[filled++] = (struct scheduler_node){
            .name = node->name,
            .node = node->json,
            .used = used_on(scheduler, node->name),
        };
    *ret = nodes;
    return filled;
}

static void work(void *context, const char *key)
{
    struct scheduler *scheduler = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *slash = strchr(key, '/');
    struct kube_object *pod =
        kube_informer_get(hub_informer(scheduler->hub, "pods"),
                          arena_strndup(arena, key, (size_t)(slash - key)), slash + 1);
    if (!pod || !scheduler_wants(pod->json) || map_get(&scheduler->assumed, key)) {
        workqueue_done(scheduler->queue, key, false);
        return;
    }
    if (!kube_informer_synced(hub_informer(scheduler->hub, "nodes"))) {
        workqueue_done(scheduler->queue, key, false);
        workqueue_add_after(scheduler->queue, key, UNSYNCED_MS);
        return;
    }
    struct scheduler_node *nodes;
    struct scheduler_choice choice;
    size_t count = gather_nodes(scheduler, arena, &nodes);
    scheduler_pick(arena, pod->json, nodes, count, &choice);
    if (choice.node)
        bind_pod(scheduler, key, pod, choice.node);
    else
        report_unschedulable(scheduler, key, pod, choice.message);
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static void enqueue(struct scheduler *scheduler, const struct kube_object *pod)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    workqueue_add(scheduler->queue, key);
}

static void recheck_waiting(struct scheduler *scheduler)
{
    struct kube_informer *pods = hub_informer(scheduler->hub, "pods");
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));)
        if (scheduler_wants(pod->json))
            enqueue(scheduler, pod);
}

/* Count the pod on its node, or no longer. */
static void count_pod(struct scheduler *scheduler, const struct json *pod, const char *node,
                      bool there)
{
    struct node_usage usage;
    node_usage_of_pod(pod, &usage);
    if (there)
        node_usage_add(used_on(scheduler, node), &usage);
    else
        node_usage_subtract(used_on(scheduler, node), &usage);
    node_usage_release(&usage);
}

static void pod_changed(struct scheduler *scheduler, struct kube_object *old,
                        struct kube_object *new_)
{
    const char *before = occupied_node(old), *after = occupied_node(new_);
    const struct kube_object *either = new_ ? new_ : old;
    if (before)
        count_pod(scheduler, old->json, before, false);
    if (after)
        count_pod(scheduler, new_->json, after, true);
    if (before && !after)
        recheck_waiting(scheduler); /* there is room again */
    if (!new_ || !scheduler_wants(new_->json)) {
        _cleanup_free_ char *key = mem_printf("%s/%s", either->namespace_, either->name);
        forget_assumed(scheduler, key);
    } else {
        enqueue(scheduler, new_);
    }
}

/* A node's heartbeat changes its status all the time; pods care for the rest and for Ready. */
static bool node_matters(const struct kube_object *old, const struct kube_object *new_)
{
    if (!old || !new_)
        return true;
    const struct json *a = json_get(old->json, "spec"), *b = json_get(new_->json, "spec");
    if (!a != !b || (a && !json_equal(a, b)))
        return true;
    a = kube_meta_labels(old->json);
    b = kube_meta_labels(new_->json);
    if (!a != !b || (a && !json_equal(a, b)))
        return true;
    return kube_condition_is_true(old->json, "Ready") !=
           kube_condition_is_true(new_->json, "Ready");
}

static void changed(void *self, const struct registry_resource *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (str_eq(resource->id.plural, "pods"))
        pod_changed(self, old, new_);
    else if (str_eq(resource->id.plural, "nodes") && node_matters(old, new_))
        recheck_waiting(self);
}

static void *start(struct hub *hub)
{
    struct scheduler *scheduler = mem_zalloc(sizeof(*scheduler));
    scheduler->hub = hub;
    scheduler->queue = workqueue_new(hub_loop(hub), PARALLEL, work, scheduler);
    map_init(&scheduler->used);
    map_init(&scheduler->assumed);
    return scheduler;
}

static void stop(void *self)
{
    struct scheduler *scheduler = self;
    const char *key;
    void *value;
    workqueue_free(scheduler->queue);
    for (size_t at = 0; map_next(&scheduler->used, &at, &key, &value); free(value))
        node_usage_release(value);
    for (size_t at = 0; map_next(&scheduler->assumed, &at, &key, &value);)
        assumption_free(value);
    map_release(&scheduler->used);
    map_release(&scheduler->assumed);
    free(scheduler);
}

const struct controller SCHEDULER_CONTROLLER = {start, changed, stop};

/* Carries out the scheduler's decisions: assumes pods on their nodes until the informer shows them
 * there, sends bindings, and writes the condition and the event of a pod without a node. See
 * internal.h. */
#include "engine/scheduler/internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/pod_affinity.h"
#include "kube/condition.h"
#include "kube/devices.h"
#include "kube/object.h"

#include <stdlib.h>

/* ---- Assumed nodes --------------------------------------------------------------------------- */

struct node_usage *scheduler_used_on(struct scheduler *scheduler, const char *node)
{
    struct node_usage *used = map_get(&scheduler->used, node);
    if (!used) {
        used = mem_zalloc(sizeof(*used));
        map_put(&scheduler->used, node, used);
    }
    return used;
}

static void assumption_free(struct scheduler_assumption *assumption)
{
    node_usage_release(&assumption->usage);
    free(assumption->node);
    free(assumption->devices);
    free(assumption);
}

void scheduler_forget(struct scheduler *scheduler, const char *key)
{
    struct scheduler_assumption *assumption = map_remove(&scheduler->assumed, key);
    if (!assumption)
        return;
    node_usage_subtract(scheduler_used_on(scheduler, assumption->node), &assumption->usage);
    scheduler->affinity_count -= assumption->has_affinity;
    assumption_free(assumption);
}

struct scheduler_assumption *scheduler_assumed(struct scheduler *scheduler, const char *key)
{
    struct scheduler_assumption *assumption = map_get(&scheduler->assumed, key);
    if (!assumption || assumption->sent ||
        kube_informer_get(hub_informer(scheduler->hub, "nodes"), "", assumption->node))
        return assumption;
    scheduler_forget(scheduler, key);
    return NULL;
}

void scheduler_assume(struct scheduler *scheduler, const char *key, const struct json *pod,
                      const char *node)
{
    struct scheduler_assumption *assumption = mem_zalloc(sizeof(*assumption));
    scheduler_forget(scheduler, key);
    assumption->node = mem_strdup(node);
    node_usage_of_pod(pod, &assumption->usage);
    if (node_usage_extra(&assumption->usage, KUBE_DEVICES_RESOURCE) > 0) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        const char *devices = scheduler_devices(scheduler, arena, pod, node);
        assumption->devices = devices ? mem_strdup(devices) : NULL;
    }
    scheduler_report_overcommit(scheduler, pod, &assumption->usage, node);
    node_usage_add(scheduler_used_on(scheduler, node), &assumption->usage);
    assumption->has_affinity = pod_affinity_is_given(pod);
    scheduler->affinity_count += assumption->has_affinity;
    scheduler_withdraw_nomination(scheduler, key);
    map_put(&scheduler->assumed, key, assumption);
}

void scheduler_bind_release(struct scheduler *scheduler)
{
    const char *key;
    void *value;
    for (size_t at = 0; map_next(&scheduler->used, &at, &key, &value); free(value))
        node_usage_release(value);
    for (size_t at = 0; map_next(&scheduler->assumed, &at, &key, &value);)
        assumption_free(value);
    map_release(&scheduler->used);
    map_release(&scheduler->assumed);
}

/* ---- API calls in flight --------------------------------------------------------------------- */

struct scheduler_pass {
    struct scheduler *scheduler;
    char *key;
    size_t refs;
    bool failed; /* an API call has failed, so the work on the key is retried */
};

struct scheduler_pass *scheduler_pass_new(struct scheduler *scheduler, const char *key)
{
    struct scheduler_pass *pass = mem_zalloc(sizeof(*pass));
    pass->scheduler = scheduler;
    pass->key = mem_strdup(key);
    pass->refs = 1;
    return pass;
}

void scheduler_pass_unref(struct scheduler_pass *pass)
{
    if (!pass || --pass->refs > 0)
        return;
    workqueue_done(pass->scheduler->queue, pass->key, pass->failed);
    free(pass->key);
    free(pass);
}

/* An API call in flight for one pod: its binding, or a patch of its status. */
struct placement {
    struct hub_task task;
    struct scheduler *scheduler;
    struct scheduler_pass *pass; /* the pass of the pod's group; NULL: the pod has no group */
    char *key;
    char *node; /* the node of the binding; NULL: the call patches the status */
    struct kube_object *pod;
};

static void placement_release(struct hub_task *task)
{
    struct placement *placement = CONTAINER_OF(task, struct placement, task);
    scheduler_pass_unref(placement->pass);
    kube_object_unref(placement->pod);
    free(placement->key);
    free(placement->node);
    free(placement);
}

static void placement_end(struct placement *placement, bool failed)
{
    if (placement->pass)
        placement->pass->failed |= failed;
    else
        workqueue_done(placement->scheduler->queue, placement->key, failed);
    hub_task_end(&placement->task);
}

static struct placement *placement_new(struct scheduler *scheduler, const char *key,
                                       struct kube_object *pod, const char *node,
                                       struct scheduler_pass *pass)
{
    struct placement *placement = mem_zalloc(sizeof(*placement));
    hub_task_begin(scheduler->hub, &placement->task, placement_release);
    placement->scheduler = scheduler;
    placement->key = mem_strdup(key);
    placement->node = node ? mem_strdup(node) : NULL;
    placement->pod = kube_object_ref(pod);
    placement->pass = pass;
    if (pass)
        pass->refs++;
    return placement;
}

/* Returns the name of this scheduler in the pod's events: the one of its two names that the pod
 * requests (scheduler_is_responsible()). */
static const char *component_of(const struct kube_object *pod)
{
    return json_get_string(json_get(pod->json, "spec"), "schedulerName", "default-scheduler");
}

/* ---- Bindings -------------------------------------------------------------------------------- */

/* After a failed binding the pod stays assumed on its node and the binding is sent again. The first
 * request may have succeeded and only its response was lost. Also, no member of a group may lose
 * its node. The retries end when the pod or the node no longer exists, or when the informer shows
 * that the pod is bound, by any scheduler, or is being deleted. */
static void on_scheduler_bound(void *context, struct json *object, const struct err *err)
{
    struct placement *placement = context;
    struct scheduler *scheduler = placement->scheduler;
    struct scheduler_assumption *assumption = map_get(&scheduler->assumed, placement->key);
    bool gone = err && err->code == ERR_NOT_FOUND;
    if (err && assumption)
        assumption->sent = false;
    if (!err)
        kube_event(hub_client(scheduler->hub), placement->pod->json, component_of(placement->pod),
                   "Normal", "Scheduled", "Successfully assigned %s to %s", placement->key,
                   placement->node);
    else if (gone)
        scheduler_forget(scheduler, placement->key);
    placement_end(placement, err && !gone);
}

/* A binding is a subresource. The client has no function that creates a subresource, so the request
 * is made for a resource with the path pods/NAME/binding. */
void scheduler_bind(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                    struct scheduler_pass *pass)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct scheduler_assumption *assumption = map_get(&scheduler->assumed, key);
    struct kube_resource binding = {
        .group = "",
        .version = "v1",
        .plural = arena_printf(arena, "pods/%s/binding", pod->name),
        .kind = "Binding",
        .namespaced = true,
    };
    struct json *body = kube_object_make(arena, &binding, pod->namespace_, pod->name);
    json_set_string(arena, json_get(body, "metadata"), "uid", pod->uid);
    if (assumption->devices)
        kube_meta_set_annotation(arena, body, KUBE_DEVICES_ANNOTATION, assumption->devices);
    struct json *target = json_ensure_object(arena, body, "target");
    json_set_string(arena, target, "apiVersion", "v1");
    json_set_string(arena, target, "kind", "Node");
    json_set_string(arena, target, "name", assumption->node);
    assumption->sent = true;
    kube_create(hub_client(scheduler->hub), &binding, pod->namespace_, body, on_scheduler_bound,
                placement_new(scheduler, key, pod, assumption->node, pass));
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static void on_placement_condition_written(void *context, struct json *object,
                                           const struct err *err)
{
    placement_end(context, err && err->code != ERR_NOT_FOUND);
}

/* Returns the pod's conditions with a false PodScheduled that has `message`, or NULL if the pod has
 * that condition already. */
static struct json *unscheduled_conditions(struct arena *arena, const struct json *pod,
                                           const char *message, int64_t now_ms)
{
    const struct json *old = kube_condition_get(pod, "PodScheduled");
    if (old && str_eq(json_get_string(old, "status", ""), "False") &&
        str_eq(json_get_string(old, "message", ""), message))
        return NULL;
    struct json *conditions = json_array(arena);
    JSON_EACH (other, json_at(pod, "status", "conditions", NULL))
        json_append(conditions, json_clone(arena, other));
    const struct kube_condition unscheduled = {.type = "PodScheduled",
                                               .status = "False",
                                               .reason = "Unschedulable",
                                               .message = message,
                                               .now_ms = now_ms};
    kube_condition_set(arena, conditions, &unscheduled,
                       KUBE_CONDITION_MOVE_LAST | KUBE_CONDITION_RESET_TRANSITION);
    return conditions;
}

void scheduler_report(struct scheduler *scheduler, const char *key, struct kube_object *pod,
                      const char *message, const char *nominated, struct scheduler_pass *pass)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *status = json_get(pod->json, "status");
    struct json *conditions =
        unscheduled_conditions(arena, pod->json, message, loop_wall_ms(hub_loop(scheduler->hub)));
    bool same_node =
        str_eq(json_get_string(status, "nominatedNodeName", ""), nominated ? nominated : "");
    if (!conditions && same_node) {
        if (!pass)
            workqueue_done(scheduler->queue, key, false);
        return;
    }
    struct json *patch = json_object(arena),
                *new_status = json_ensure_object(arena, patch, "status");
    if (conditions) {
        kube_event(hub_client(scheduler->hub), pod->json, component_of(pod), "Warning",
                   "FailedScheduling", "%s", message);
        json_set(arena, new_status, "conditions", conditions);
    }
    if (!same_node)
        json_set(arena, new_status, "nominatedNodeName",
                 nominated ? json_string(arena, nominated) : json_null(arena));
    kube_patch(hub_client(scheduler->hub), &KUBE_PODS, pod->namespace_, pod->name, "status", patch,
               on_placement_condition_written, placement_new(scheduler, key, pod, NULL, pass));
}

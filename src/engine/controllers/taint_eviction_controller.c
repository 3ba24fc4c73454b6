/* Evicts pods from nodes with NoExecute taints: a pod without a matching toleration at once, a pod
 * whose toleration has tolerationSeconds after that time. taints.h decides how long a pod may stay.
 * The start of that time is kept in memory, so the time starts again when the controllers restart,
 * as in Kubernetes. */
#include "base/map.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/scheduler/disruption.h"
#include "engine/scheduler/taints.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { EVICTIONS_MAX = 16, UNSYNCED_MS = 20 };

static const char COMPONENT[] = "taint-eviction-controller";

struct evictions {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/pod" */
    struct map since;        /* pod key → struct toleration, while tolerationSeconds run */
};

struct toleration {
    int64_t since_ms;
    char *uid; /* the pod's uid; a later pod of the same name gets its own start */
};

struct eviction {
    struct hub_task task;
    struct evictions *evictions;
    char *key;
    struct kube_object *pod;
};

static void eviction_free(struct hub_task *task)
{
    struct eviction *eviction = CONTAINER_OF(task, struct eviction, task);
    kube_object_unref(eviction->pod);
    free(eviction->key);
    free(eviction);
}

static void toleration_free(struct toleration *toleration)
{
    if (!toleration)
        return;
    free(toleration->uid);
    free(toleration);
}

/* ---- Evicting -------------------------------------------------------------------------------- */

static void on_taint_eviction_deleted(void *context, struct json *object, const struct err *err)
{
    struct eviction *eviction = context;
    bool is_gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    workqueue_done(eviction->evictions->queue, eviction->key, err && !is_gone);
    hub_task_end(&eviction->task);
}

/* Deletes the pod, even if the condition DisruptionTarget could not be written. With this condition
 * the operator of training jobs does not count the end of the pod as a failure. */
static void on_taint_eviction_condition_written(void *context, struct json *object,
                                                const struct err *err)
{
    struct eviction *eviction = context;
    struct kube_delete_options options = {.grace_period_seconds = -1, .uid = eviction->pod->uid};
    kube_delete(hub_client(eviction->evictions->hub), &KUBE_PODS, eviction->pod->namespace_,
                eviction->pod->name, &options, on_taint_eviction_deleted, eviction);
}

static void taint_eviction_evict(struct evictions *evictions, const char *key,
                                 struct kube_object *pod)
{
    struct kube_client *client = hub_client(evictions->hub);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct eviction *eviction = mem_zalloc(sizeof(*eviction));
    hub_task_begin(evictions->hub, &eviction->task, eviction_free);
    eviction->evictions = evictions;
    eviction->key = mem_strdup(key);
    eviction->pod = kube_object_ref(pod);
    kube_event(client, pod->json, COMPONENT, "Normal", "TaintManagerEviction",
               "Marking for deletion Pod %s", key);
    kube_patch(client, &KUBE_PODS, pod->namespace_, pod->name, "status",
               disruption_patch(arena, pod->json, "DeletionByTaintManager",
                                "Taint manager: deleting due to NoExecute taint",
                                loop_wall_ms(hub_loop(evictions->hub))),
               on_taint_eviction_condition_written, eviction);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static int64_t pod_toleration_s(struct evictions *evictions, const struct kube_object *pod)
{
    const char *name = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
    const struct kube_object *node =
        name[0] ? kube_informer_get(hub_informer(evictions->hub, "nodes"), "", name) : NULL;
    return node ? taints_toleration_s(pod->json, node->json) : TAINTS_FOR_EVER;
}

/* Returns the loop time at which the pod's tolerationSeconds started. The first call for a pod
 * starts them now. */
static int64_t taint_eviction_since(struct evictions *evictions, const char *key,
                                    const struct kube_object *pod)
{
    struct toleration *toleration = map_get(&evictions->since, key);
    if (!toleration || !str_eq(toleration->uid, pod->uid)) {
        toleration = mem_zalloc(sizeof(*toleration));
        toleration->since_ms = loop_now_ms(hub_loop(evictions->hub));
        toleration->uid = mem_strdup(pod->uid);
        toleration_free(map_put(&evictions->since, key, toleration));
    }
    return toleration->since_ms;
}

static void taint_eviction_cancel(struct evictions *evictions, const char *key,
                                  const struct kube_object *pod)
{
    struct toleration *toleration = map_remove(&evictions->since, key);
    if (toleration && pod && !kube_meta_is_deleting(pod->json))
        kube_event(hub_client(evictions->hub), pod->json, COMPONENT, "Normal",
                   "TaintManagerEviction", "Cancelling deletion of Pod %s", key);
    toleration_free(toleration);
    workqueue_done(evictions->queue, key, false);
}

static void taint_eviction_controller_work(void *context, const char *key)
{
    struct evictions *evictions = context;
    if (!kube_informer_synced(hub_informer(evictions->hub, "pods")) ||
        !kube_informer_synced(hub_informer(evictions->hub, "nodes"))) {
        workqueue_defer(evictions->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *pod = kube_informer_find(hub_informer(evictions->hub, "pods"), key);
    int64_t toleration_s = pod ? pod_toleration_s(evictions, pod) : TAINTS_FOR_EVER;
    if (!pod || kube_meta_is_deleting(pod->json) || toleration_s == TAINTS_FOR_EVER) {
        taint_eviction_cancel(evictions, key, pod);
        return;
    }
    int64_t now_ms = loop_now_ms(hub_loop(evictions->hub));
    int64_t left_ms =
        toleration_s == 0
            ? 0
            : moment_after(taint_eviction_since(evictions, key, pod), toleration_s) - now_ms;
    if (left_ms > 0) {
        workqueue_done(evictions->queue, key, false);
        workqueue_add_after(evictions->queue, key, left_ms);
        return;
    }
    taint_eviction_evict(evictions, key, pod);
}

/* ---- Changes of objects ---------------------------------------------------------------------- */

static void taint_eviction_enqueue(struct evictions *evictions, const struct kube_object *pod)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    workqueue_add(evictions->queue, key);
}

static bool has_no_execute_taint(const struct kube_object *node)
{
    JSON_EACH (taint, node ? json_at(node->json, "spec", "taints", NULL) : NULL) {
        if (str_eq(json_get_string(taint, "effect", ""), "NoExecute"))
            return true;
    }
    return false;
}

static bool has_same_taints(const struct kube_object *old, const struct kube_object *new_)
{
    const struct json *a = old ? json_at(old->json, "spec", "taints", NULL) : NULL;
    const struct json *b = new_ ? json_at(new_->json, "spec", "taints", NULL) : NULL;
    return !a == !b && (!a || json_equal(a, b));
}

static void on_taint_eviction_node_changed(void *self, struct kube_object *old,
                                           struct kube_object *new_)
{
    struct evictions *evictions = self;
    struct kube_informer *pods = hub_informer(evictions->hub, "pods");
    const struct kube_object *pod;
    if (has_same_taints(old, new_) || (!has_no_execute_taint(old) && !has_no_execute_taint(new_)))
        return;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));)
        if (str_eq(json_get_string(json_get(pod->json, "spec"), "nodeName", ""),
                   (new_ ? new_ : old)->name))
            taint_eviction_enqueue(evictions, pod);
}

/* The pod may have been bound to a node or deleted, or its tolerations may have changed. */
static void on_taint_eviction_pod_changed(void *self, struct kube_object *old,
                                          struct kube_object *new_)
{
    struct evictions *evictions = self;
    _cleanup_free_ char *key =
        mem_printf("%s/%s", (new_ ? new_ : old)->namespace_, (new_ ? new_ : old)->name);
    bool is_tolerated = map_get(&evictions->since, key) != NULL;
    if (is_tolerated || (new_ && pod_toleration_s(evictions, new_) != TAINTS_FOR_EVER))
        workqueue_add(evictions->queue, key);
}

static void *taint_eviction_controller_start(struct hub *hub)
{
    struct evictions *evictions = mem_zalloc(sizeof(*evictions));
    evictions->hub = hub;
    evictions->queue =
        workqueue_new(hub_loop(hub), EVICTIONS_MAX, taint_eviction_controller_work, evictions);
    map_init(&evictions->since);
    return evictions;
}

static void taint_eviction_controller_stop(void *self)
{
    struct evictions *evictions = self;
    const char *key;
    void *value;
    workqueue_free(evictions->queue);
    for (size_t at = 0; map_next(&evictions->since, &at, &key, &value);)
        toleration_free(value);
    map_release(&evictions->since);
    free(evictions);
}

static const struct controller_watch TAINT_EVICTION_WATCHES[] = {
    {"nodes", on_taint_eviction_node_changed},
    {"pods", on_taint_eviction_pod_changed},
    {NULL, NULL},
};

const struct controller TAINT_EVICTION_CONTROLLER = {
    .start = taint_eviction_controller_start,
    .stop = taint_eviction_controller_stop,
    .watches = TAINT_EVICTION_WATCHES,
};

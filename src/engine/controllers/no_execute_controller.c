/* Sends pods away from nodes with NoExecute taints that they do not tolerate: at once, or when the
 * time is over that they do. How long, taints.h decides; since when a pod is on borrowed time is
 * remembered here, so it begins anew when the controllers do, as upstream. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/disruption.h"
#include "engine/controllers/hub.h"
#include "engine/scheduler/taints.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

static const char COMPONENT[] = "taint-eviction-controller";

struct evictions {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/pod" */
    struct map since;        /* the same, of pods whose time runs → struct deadline */
};

struct deadline {
    int64_t since_ms;
    char *uid; /* of the pod, not of one that has the name after it */
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

static void deadline_free(struct deadline *deadline)
{
    if (!deadline)
        return;
    free(deadline->uid);
    free(deadline);
}

/* ---- Evicting -------------------------------------------------------------------------------- */

static void on_deleted(void *context, struct json *object, const struct err *err)
{
    struct eviction *eviction = context;
    bool settled = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    workqueue_done(eviction->evictions->queue, eviction->key, err && !settled);
    hub_task_end(&eviction->task);
}

/* Whoever counts failures sees that this is none; but what cannot be written does not save it. */
static void on_told(void *context, struct json *object, const struct err *err)
{
    struct eviction *eviction = context;
    struct kube_delete_options options = {.grace_period_seconds = -1, .uid = eviction->pod->uid};
    kube_delete(hub_client(eviction->evictions->hub), &KUBE_PODS, eviction->pod->namespace_,
                eviction->pod->name, &options, on_deleted, eviction);
}

static void evict(struct evictions *evictions, const char *key, struct kube_object *pod)
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
               on_told, eviction);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static int64_t patience_of(struct evictions *evictions, const struct kube_object *pod)
{
    const char *name = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
    const struct kube_object *node =
        name[0] ? kube_informer_get(hub_informer(evictions->hub, "nodes"), "", name) : NULL;
    return node ? taints_patience_s(pod->json, node->json) : TAINTS_FOR_EVER;
}

/* When its time began to run. */
static int64_t since(struct evictions *evictions, const char *key, const struct kube_object *pod)
{
    struct deadline *deadline = map_get(&evictions->since, key);
    if (!deadline || !str_eq(deadline->uid, pod->uid)) {
        deadline = mem_zalloc(sizeof(*deadline));
        deadline->since_ms = loop_now_ms(hub_loop(evictions->hub));
        deadline->uid = mem_strdup(pod->uid);
        deadline_free(map_put(&evictions->since, key, deadline));
    }
    return deadline->since_ms;
}

static void stay(struct evictions *evictions, const char *key, const struct kube_object *pod)
{
    struct deadline *deadline = map_remove(&evictions->since, key);
    if (deadline && pod && !kube_meta_is_deleting(pod->json))
        kube_event(hub_client(evictions->hub), pod->json, COMPONENT, "Normal",
                   "TaintManagerEviction", "Cancelling deletion of Pod %s", key);
    deadline_free(deadline);
    workqueue_done(evictions->queue, key, false);
}

static void work(void *context, const char *key)
{
    struct evictions *evictions = context;
    if (!kube_informer_synced(hub_informer(evictions->hub, "pods")) ||
        !kube_informer_synced(hub_informer(evictions->hub, "nodes"))) {
        workqueue_put_off(evictions->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *pod = kube_informer_find(hub_informer(evictions->hub, "pods"), key);
    int64_t patience_s = pod ? patience_of(evictions, pod) : TAINTS_FOR_EVER;
    if (!pod || kube_meta_is_deleting(pod->json) || patience_s == TAINTS_FOR_EVER) {
        stay(evictions, key, pod);
        return;
    }
    int64_t now_ms = loop_now_ms(hub_loop(evictions->hub));
    int64_t left_ms = patience_s == 0 ? 0 : since(evictions, key, pod) + patience_s * 1000 - now_ms;
    if (left_ms > 0) {
        workqueue_done(evictions->queue, key, false);
        workqueue_add_after(evictions->queue, key, left_ms);
        return;
    }
    evict(evictions, key, pod);
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static void enqueue(struct evictions *evictions, const struct kube_object *pod)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    workqueue_add(evictions->queue, key);
}

static bool drives_away(const struct kube_object *node)
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

static void node_changed(struct evictions *evictions, const struct kube_object *old,
                         const struct kube_object *new_)
{
    struct kube_informer *pods = hub_informer(evictions->hub, "pods");
    const struct kube_object *pod;
    if (has_same_taints(old, new_) || (!drives_away(old) && !drives_away(new_)))
        return;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));)
        if (str_eq(json_get_string(json_get(pod->json, "spec"), "nodeName", ""),
                   (new_ ? new_ : old)->name))
            enqueue(evictions, pod);
}

/* Its node was given, or its tolerations have changed. */
static void pod_changed(struct evictions *evictions, const struct kube_object *old,
                        const struct kube_object *new_)
{
    _cleanup_free_ char *key =
        mem_printf("%s/%s", (new_ ? new_ : old)->namespace_, (new_ ? new_ : old)->name);
    bool runs_out = map_get(&evictions->since, key) != NULL;
    if (runs_out || (new_ && patience_of(evictions, new_) != TAINTS_FOR_EVER))
        workqueue_add(evictions->queue, key);
}

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (str_eq(resource->storage, "nodes"))
        node_changed(self, old, new_);
    else if (str_eq(resource->storage, "pods"))
        pod_changed(self, old, new_);
}

static void *start(struct hub *hub)
{
    struct evictions *evictions = mem_zalloc(sizeof(*evictions));
    evictions->hub = hub;
    evictions->queue = workqueue_new(hub_loop(hub), PARALLEL, work, evictions);
    map_init(&evictions->since);
    return evictions;
}

static void stop(void *self)
{
    struct evictions *evictions = self;
    const char *key;
    void *value;
    workqueue_free(evictions->queue);
    for (size_t at = 0; map_next(&evictions->since, &at, &key, &value);)
        deadline_free(value);
    map_release(&evictions->since);
    free(evictions);
}

const struct controller NO_EXECUTE_CONTROLLER = {start, changed, stop};

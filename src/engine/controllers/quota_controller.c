/* Keeps the usage of quotas correct when objects are deleted, end or shrink. The server counts the
 * usage again whenever the status of a quota is written (engine/admission/quota_write.c). So this
 * controller writes an empty status soon after a change in the namespace. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    PARALLEL = 1,
    GATHER_MS = 100, /* changes within this time are counted together */
};

static const char STORAGE[] = "resourcequotas";

struct quota_counter {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/quota" */
};

/* The call that makes the server count one quota. */
struct counting {
    struct hub_task task;
    struct quota_counter *counter;
    char *key;
};

static void counting_free(struct hub_task *task)
{
    struct counting *counting = CONTAINER_OF(task, struct counting, task);
    free(counting->key);
    free(counting);
}

/* Retries after a conflict: the server does not count while other writes are pending. */
static void on_counted(void *context, struct json *object, const struct err *err)
{
    struct counting *counting = context;
    workqueue_done(counting->counter->queue, counting->key, err && err->code != ERR_NOT_FOUND);
    hub_task_end(&counting->task);
}

static void quota_controller_work(void *context, const char *key)
{
    struct quota_counter *counter = context;
    struct kube_object *quota = kube_informer_find(hub_informer(counter->hub, STORAGE), key);
    if (!quota || kube_meta_is_deleting(quota->json)) {
        workqueue_done(counter->queue, key, false);
        return;
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct counting *counting = mem_zalloc(sizeof(*counting));
    hub_task_begin(counter->hub, &counting->task, counting_free);
    counting->counter = counter;
    counting->key = mem_strdup(key);
    struct json *patch = json_object(arena);
    json_ensure_object(arena, patch, "status");
    kube_patch(hub_client(counter->hub), &KUBE_RESOURCEQUOTAS, quota->namespace_, quota->name,
               "status", patch, on_counted, counting);
}

static void quota_enqueue(struct quota_counter *counter, const struct kube_object *quota)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", quota->namespace_, quota->name);
    workqueue_add_after(counter->queue, key, GATHER_MS);
}

/* Returns whether the change leaves the usage as it was: neither the phase nor the spec has
 * changed. */
static bool counts_as_before(const struct kube_object *old, const struct kube_object *new_)
{
    if (!old || !new_)
        return false;
    const struct json *a = json_get(old->json, "spec"), *b = json_get(new_->json, "spec");
    return str_eq(json_get_string(json_get(old->json, "status"), "phase", ""),
                  json_get_string(json_get(new_->json, "status"), "phase", "")) &&
           !a == !b && (!a || json_equal(a, b));
}

static void on_quota_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (new_)
        quota_enqueue(self, new_);
}

static void on_quota_object_changed(void *self, const struct kube_kind *resource,
                                    struct kube_object *old, struct kube_object *new_)
{
    struct quota_counter *counter = self;
    const struct kube_object *object = new_ ? new_ : old, *quota;
    struct kube_informer *quotas = hub_informer(counter->hub, STORAGE);
    if (!resource->id.namespaced || kube_informer_count(quotas) == 0 || counts_as_before(old, new_))
        return;
    for (size_t at = 0; (quota = kube_informer_next(quotas, object->namespace_, &at));)
        quota_enqueue(counter, quota);
}

static void *quota_controller_start(struct hub *hub)
{
    struct quota_counter *counter = mem_zalloc(sizeof(*counter));
    counter->hub = hub;
    counter->queue = workqueue_new(hub_loop(hub), PARALLEL, quota_controller_work, counter);
    return counter;
}

static void quota_controller_stop(void *self)
{
    struct quota_counter *counter = self;
    workqueue_free(counter->queue);
    free(counter);
}

static const struct controller_watch QUOTA_WATCHES[] = {
    {STORAGE, on_quota_changed},
    {NULL, NULL},
};

const struct controller QUOTA_CONTROLLER = {
    .start = quota_controller_start,
    .stop = quota_controller_stop,
    .watches = QUOTA_WATCHES,
    .other_changed = on_quota_object_changed,
};

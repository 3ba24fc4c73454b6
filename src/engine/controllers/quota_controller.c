/* Keeps what quotas have used true when objects go, end or shrink: the server counts again whenever
 * the status of a quota is written (rest_quota.c), and this is who writes it, soon after anything
 * in the namespace came or went. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 1, GATHER_MS = 100 };

static const char STORAGE[] = "resourcequotas";

struct quota_counter {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/quota" */
};

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

/* A conflict says that writes are on their way: what they are will be counted. */
static void on_counted(void *context, struct json *object, const struct err *err)
{
    struct counting *counting = context;
    workqueue_done(counting->counter->queue, counting->key, err && err->code != ERR_NOT_FOUND);
    hub_task_end(&counting->task);
}

static void work(void *context, const char *key)
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

static void enqueue(struct quota_counter *counter, const struct kube_object *quota)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", quota->namespace_, quota->name);
    workqueue_add_after(counter->queue, key, GATHER_MS);
}

/* Of a pod, that it has ended; of the rest, what they ask for. */
static bool counts_as_before(const struct kube_object *old, const struct kube_object *new_)
{
    if (!old || !new_)
        return false;
    const struct json *a = json_get(old->json, "spec"), *b = json_get(new_->json, "spec");
    return str_eq(json_get_string(json_get(old->json, "status"), "phase", ""),
                  json_get_string(json_get(new_->json, "status"), "phase", "")) &&
           !a == !b && (!a || json_equal(a, b));
}

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    struct quota_counter *counter = self;
    const struct kube_object *either = new_ ? new_ : old, *quota;
    struct kube_informer *quotas = hub_informer(counter->hub, STORAGE);
    bool itself = str_eq(resource->storage, STORAGE);
    if (itself && new_)
        enqueue(counter, new_);
    if (itself || !resource->id.namespaced || kube_informer_count(quotas) == 0 ||
        counts_as_before(old, new_))
        return;
    for (size_t at = 0; (quota = kube_informer_next(quotas, either->namespace_, &at));)
        enqueue(counter, quota);
}

static void *start(struct hub *hub)
{
    struct quota_counter *counter = mem_zalloc(sizeof(*counter));
    counter->hub = hub;
    counter->queue = workqueue_new(hub_loop(hub), PARALLEL, work, counter);
    return counter;
}

static void stop(void *self)
{
    struct quota_counter *counter = self;
    workqueue_free(counter->queue);
    free(counter);
}

const struct controller QUOTA_CONTROLLER = {start, changed, stop};

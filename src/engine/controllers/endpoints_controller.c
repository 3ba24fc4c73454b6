/* Keeps the Endpoints of each service with a selector up to date. Deletes the Endpoints of a
 * service that was deleted, even if another client wrote them. */
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/endpoints.h"
#include "kube/client/workqueue.h"
#include "kube/kinds/service/service_spec.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 32 };

struct endpoints {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/name" of a service */
};

/* The call that writes or deletes the Endpoints of a service. */
struct writing {
    struct hub_task task;
    struct endpoints *endpoints;
    char *key;
};

static void writing_release(struct hub_task *task)
{
    struct writing *writing = CONTAINER_OF(task, struct writing, task);
    free(writing->key);
    free(writing);
}

static struct writing *writing_new(struct endpoints *endpoints, const char *key)
{
    struct writing *writing = mem_zalloc(sizeof(*writing));
    hub_task_begin(endpoints->hub, &writing->task, writing_release);
    writing->endpoints = endpoints;
    writing->key = mem_strdup(key);
    return writing;
}

static void on_endpoints_written(void *context, struct json *object, const struct err *err)
{
    struct writing *writing = context;
    workqueue_done(writing->endpoints->queue, writing->key, err && err->code != ERR_NOT_FOUND);
    hub_task_end(&writing->task);
}

/* Queues the service again: if it was deleted meanwhile, the new Endpoints must be deleted. */
static void on_endpoints_created(void *context, struct json *object, const struct err *err)
{
    const struct writing *writing = context;
    if (!err)
        workqueue_add(writing->endpoints->queue, writing->key);
    on_endpoints_written(context, object, err);
}

static struct json *wanted_subsets(struct endpoints *endpoints, struct arena *arena,
                                   const struct kube_object *service,
                                   const struct kube_selector *selector)
{
    VEC(const struct json *) pods = {0};
    struct kube_informer *informer = hub_informer(endpoints->hub, "pods");
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, service->namespace_, &at));)
        if (kube_selector_matches(selector, kube_meta_labels(pod->json)))
            vec_push(&pods, pod->json);
    struct json *subsets = endpoints_subsets(arena, service->json, pods.items, pods.count);
    vec_release(&pods);
    return subsets;
}

static void write_endpoints(struct endpoints *endpoints, const char *key, struct arena *arena,
                            const struct kube_object *service, const struct kube_object *existing,
                            struct json *subsets)
{
    struct kube_client *client = hub_client(endpoints->hub);
    if (!existing) {
        struct json *object =
            kube_object_make(arena, &KUBE_ENDPOINTS, service->namespace_, service->name);
        JSON_EACH (label, kube_meta_labels(service->json))
            kube_meta_set_label(arena, object, label->name, json_text(label));
        json_set(arena, object, "subsets", subsets);
        kube_create(client, &KUBE_ENDPOINTS, service->namespace_, object, on_endpoints_created,
                    writing_new(endpoints, key));
        return;
    }
    const struct json *old = json_get(existing->json, "subsets");
    if (old ? json_equal(old, subsets) : json_count(subsets) == 0) {
        workqueue_done(endpoints->queue, key, false);
        return;
    }
    struct json *patch = json_object(arena);
    json_set(arena, patch, "subsets", subsets);
    kube_patch(client, &KUBE_ENDPOINTS, service->namespace_, service->name, NULL, patch,
               on_endpoints_written, writing_new(endpoints, key));
}

static void endpoints_controller_work(void *context, const char *key)
{
    struct endpoints *endpoints = context;
    struct hub *hub = endpoints->hub;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *name = strchr(key, '/') + 1;
    const char *namespace_ = arena_strndup(arena, key, (size_t)(name - key) - 1);
    struct kube_object *service =
        kube_informer_get(hub_informer(hub, "services"), namespace_, name);
    struct kube_object *existing =
        kube_informer_get(hub_informer(hub, "endpoints"), namespace_, name);
    struct kube_selector selector;
    if (!service && existing) {
        struct kube_delete_options options = {.grace_period_seconds = -1, .uid = existing->uid};
        kube_delete(hub_client(hub), &KUBE_ENDPOINTS, namespace_, name, &options,
                    on_endpoints_written, writing_new(endpoints, key));
        return;
    }
    /* Other clients write the Endpoints of a service without a selector. A service of type
     * ExternalName gets no Endpoints. */
    const struct json *spec = service ? json_get(service->json, "spec") : NULL;
    const struct json *map = json_get(spec, "selector");
    if (!service || json_count(map) == 0 || service_is(spec, "ExternalName") ||
        kube_meta_is_deleting(service->json) ||
        kube_selector_from_map(arena, map, &selector, NULL) < 0) {
        workqueue_done(endpoints->queue, key, false);
        return;
    }
    write_endpoints(endpoints, key, arena, service, existing,
                    wanted_subsets(endpoints, arena, service, &selector));
}

static void endpoints_enqueue(struct endpoints *endpoints, const struct kube_object *service)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", service->namespace_, service->name);
    workqueue_add(endpoints->queue, key);
}

/* Queues the services whose selector matches the pod. */
static void enqueue_services(struct endpoints *endpoints, const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_informer *services = hub_informer(endpoints->hub, "services");
    struct kube_object *service;
    struct kube_selector selector;
    for (size_t at = 0; (service = kube_informer_next(services, pod->namespace_, &at));)
        if (kube_selector_from_map(arena, json_at(service->json, "spec", "selector", NULL),
                                   &selector, NULL) == 0 &&
            kube_selector_matches(&selector, kube_meta_labels(pod->json)))
            endpoints_enqueue(endpoints, service);
}

static void on_endpoints_service_changed(void *self, struct kube_object *old,
                                         struct kube_object *new_)
{
    endpoints_enqueue(self, new_ ? new_ : old);
}

/* If another client changed or deleted Endpoints of a service, they are written again. Endpoints
 * without a service are left alone. */
static void on_endpoints_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct endpoints *endpoints = self;
    const struct kube_object *object = new_ ? new_ : old;
    if (kube_informer_get(hub_informer(endpoints->hub, "services"), object->namespace_,
                          object->name))
        endpoints_enqueue(endpoints, object);
}

static void on_endpoints_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (old)
        enqueue_services(self, old);
    if (new_)
        enqueue_services(self, new_);
}

static void *endpoints_controller_start(struct hub *hub)
{
    struct endpoints *endpoints = mem_zalloc(sizeof(*endpoints));
    endpoints->hub = hub;
    endpoints->queue = workqueue_new(hub_loop(hub), PARALLEL, endpoints_controller_work, endpoints);
    return endpoints;
}

static void endpoints_controller_stop(void *self)
{
    struct endpoints *endpoints = self;
    workqueue_free(endpoints->queue);
    free(endpoints);
}

static const struct controller_watch ENDPOINTS_WATCHES[] = {
    {"services", on_endpoints_service_changed},
    {"endpoints", on_endpoints_changed},
    {"pods", on_endpoints_pod_changed},
    {NULL, NULL},
};

const struct controller ENDPOINTS_CONTROLLER = {
    .start = endpoints_controller_start,
    .stop = endpoints_controller_stop,
    .watches = ENDPOINTS_WATCHES,
};

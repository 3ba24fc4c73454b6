/* Manages the lifecycle of namespaces. Creates the service account default and the ConfigMap
 * kube-root-ca.crt of a namespace again if they are missing. Deletes all objects of a namespace
 * that is being deleted, reports the remaining objects, and removes the namespace's finalizer when
 * the namespace is empty. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "kube/client/workqueue.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 8, RECHECK_MS = 200, PAGE_LIMIT = 100 };

struct namespaces {
    struct hub *hub;
    struct workqueue *queue; /* names of namespaces */
};

/* The work on one namespace: creates its missing objects, or deletes its content. */
struct sweep {
    struct hub_task task;
    struct namespaces *namespaces;
    char *name;
    size_t waiting;   /* calls in flight */
    size_t remaining; /* objects found in the namespace */
    bool failed;      /* a call has failed, so the work is repeated */
    bool terminating; /* the namespace is being deleted */
};

static void sweep_release(struct hub_task *task)
{
    struct sweep *sweep = CONTAINER_OF(task, struct sweep, task);
    free(sweep->name);
    free(sweep);
}

static void sweep_end(struct sweep *sweep)
{
    workqueue_done(sweep->namespaces->queue, sweep->name, sweep->failed);
    if (sweep->terminating && sweep->remaining > 0 && !sweep->failed)
        workqueue_add_after(sweep->namespaces->queue, sweep->name, RECHECK_MS);
    hub_task_end(&sweep->task);
}

/* The last call of the work has been answered. */
static void on_namespace_written(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_EXISTS)
        sweep->failed = true;
    sweep_end(sweep);
}

/* ---- Deletion -------------------------------------------------------------------------------- */

/* Writes the subresource finalize. The client has no call for it, so the request is made for an
 * object with the path namespaces/NAME/finalize. */
static void namespace_finalize(struct sweep *sweep)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_resource below = {
        .group = "",
        .version = "v1",
        .plural = arena_printf(arena, "namespaces/%s", sweep->name),
        .kind = "Namespace",
    };
    struct json *object = kube_object_make(arena, &KUBE_NAMESPACES, NULL, sweep->name);
    json_ensure_array(arena, json_ensure_object(arena, object, "spec"), "finalizers");
    kube_update(hub_client(sweep->namespaces->hub), &below, NULL, "finalize", object,
                on_namespace_written, sweep);
}

/* Writes the condition NamespaceContentRemaining with the number of remaining objects. */
static void report_remaining(struct sweep *sweep)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_object *object =
        kube_informer_get(hub_informer(sweep->namespaces->hub, "namespaces"), "", sweep->name);
    const char *message = arena_printf(
        arena, "Some resources are remaining: %zu objects wait to be deleted", sweep->remaining);
    const struct json *old =
        object ? kube_condition_get(object->json, "NamespaceContentRemaining") : NULL;
    if (!object || str_eq(json_get_string(old, "message", NULL), message)) {
        sweep_end(sweep);
        return;
    }
    const struct kube_condition remaining = {.type = "NamespaceContentRemaining",
                                             .status = "True",
                                             .reason = "SomeResourcesRemain",
                                             .message = message,
                                             .now_ms =
                                                 loop_wall_ms(hub_loop(sweep->namespaces->hub))};
    struct json *patch = json_object(arena);
    struct json *status = json_ensure_object(arena, patch, "status");
    kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &remaining, 0);
    kube_patch(hub_client(sweep->namespaces->hub), &KUBE_NAMESPACES, NULL, sweep->name, "status",
               patch, on_namespace_written, sweep);
}

/* Counts an answered call of the deletion. After the last one, removes the finalizer or reports the
 * remaining objects. */
static void namespace_call_ended(struct sweep *sweep)
{
    if (--sweep->waiting > 0)
        return;
    if (sweep->failed)
        sweep_end(sweep);
    else if (sweep->remaining > 0)
        report_remaining(sweep);
    else
        namespace_finalize(sweep);
}

static void on_namespace_object_deleted(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND)
        sweep->failed = true;
    namespace_call_ended(sweep);
}

/* The list of all objects of one resource in the namespace. It comes from the API, not from an
 * informer, so that no new object is missed. */
struct listing {
    struct hub_task task;
    struct sweep *sweep;
    const struct kube_kind *resource;
};

static void listing_release(struct hub_task *task)
{
    struct listing *listing = CONTAINER_OF(task, struct listing, task);
    registry_unref(listing->resource);
    free(listing);
}

static void list_page(struct listing *listing, const char *continue_);

static void on_namespace_listed(void *context, struct json *list, const struct err *err)
{
    struct listing *listing = context;
    struct sweep *sweep = listing->sweep;
    struct kube_delete_options options = {.grace_period_seconds = -1, .propagation = "Background"};
    if (err)
        sweep->failed = true;
    JSON_EACH (item, json_get(list, "items")) {
        sweep->remaining++;
        if (kube_meta_is_deleting(item))
            continue;
        sweep->waiting++;
        kube_delete(hub_client(sweep->namespaces->hub), &listing->resource->id, sweep->name,
                    kube_meta_name(item), &options, on_namespace_object_deleted, sweep);
    }
    const char *more = json_get_string(json_get(list, "metadata"), "continue", "");
    if (*more) {
        list_page(listing, more);
        return;
    }
    hub_task_end(&listing->task);
    namespace_call_ended(sweep);
}

/* Lists and deletes page by page: a namespace may have thousands of objects, and one large list
 * would block the loop. */
static void list_page(struct listing *listing, const char *continue_)
{
    const struct kube_list_page page = {.limit = PAGE_LIMIT, .continue_ = continue_};
    const struct sweep *sweep = listing->sweep;
    kube_list_paged(hub_client(sweep->namespaces->hub), &listing->resource->id, sweep->name, &page,
                    on_namespace_listed, listing);
}

static void namespace_delete_objects(struct sweep *sweep)
{
    struct hub *hub = sweep->namespaces->hub;
    const struct kube_kind *resource;
    sweep->terminating = true;
    sweep->waiting = 1;
    for (size_t i = 0; (resource = registry_at(hub_registry(hub), i)); i++) {
        if (!resource->id.namespaced || resource->transient)
            continue;
        struct listing *listing = mem_zalloc(sizeof(*listing));
        hub_task_begin(hub, &listing->task, listing_release);
        listing->sweep = sweep;
        listing->resource = registry_ref(resource);
        sweep->waiting++;
        list_page(listing, NULL);
    }
    namespace_call_ended(sweep);
}

/* ---- Objects that every namespace needs ------------------------------------------------------ */

static const char CERTIFICATE[] = "kube-root-ca.crt";

/* The objects that every namespace needs and this namespace does not have. */
struct missing {
    bool account;     /* the service account default is missing */
    bool certificate; /* kube-root-ca.crt is missing, and kube-system has a copy of it */
};

static struct missing namespace_find_missing(struct hub *hub, const char *namespace_)
{
    struct kube_informer *maps = hub_informer(hub, "configmaps");
    struct kube_informer *accounts = hub_informer(hub, "serviceaccounts");
    return (struct missing){
        .account = !kube_informer_get(accounts, namespace_, "default"),
        .certificate = !kube_informer_get(maps, namespace_, CERTIFICATE) &&
                       kube_informer_get(maps, "kube-system", CERTIFICATE),
    };
}

static void on_missing_created(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_EXISTS)
        sweep->failed = true;
    if (--sweep->waiting == 0)
        sweep_end(sweep);
}

/* Copies the certificate from kube-system. It is read from the API, because the informer keeps no
 * data of ConfigMaps. */
static void on_certificate(void *context, struct json *object, const struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct sweep *sweep = context;
    if (err) {
        on_missing_created(sweep, NULL, err);
        return;
    }
    struct json *map = kube_object_make(arena, &KUBE_CONFIGMAPS, sweep->name, CERTIFICATE);
    json_set(arena, map, "data", json_clone(arena, json_get(object, "data")));
    kube_create(hub_client(sweep->namespaces->hub), &KUBE_CONFIGMAPS, sweep->name, map,
                on_missing_created, sweep);
}

static void namespace_make_missing(struct sweep *sweep, const struct missing *missing)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = hub_client(sweep->namespaces->hub);
    sweep->waiting = (missing->account ? 1 : 0) + (missing->certificate ? 1 : 0);
    if (missing->account)
        kube_create(client, &KUBE_SERVICEACCOUNTS, sweep->name,
                    kube_object_make(arena, &KUBE_SERVICEACCOUNTS, sweep->name, "default"),
                    on_missing_created, sweep);
    if (missing->certificate)
        kube_get(client, &KUBE_CONFIGMAPS, "kube-system", CERTIFICATE, on_certificate, sweep);
}

static void namespace_controller_work(void *context, const char *name)
{
    struct namespaces *namespaces = context;
    struct kube_object *object =
        kube_informer_get(hub_informer(namespaces->hub, "namespaces"), "", name);
    struct missing missing = namespace_find_missing(namespaces->hub, name);
    bool dying = object && kube_meta_is_deleting(object->json);
    bool done = dying ? json_count(json_at(object->json, "spec", "finalizers", NULL)) == 0
                      : !missing.account && !missing.certificate;
    if (!object || done) {
        workqueue_done(namespaces->queue, name, false);
        return;
    }
    struct sweep *sweep = mem_zalloc(sizeof(*sweep));
    hub_task_begin(namespaces->hub, &sweep->task, sweep_release);
    sweep->namespaces = namespaces;
    sweep->name = mem_strdup(name);
    if (dying)
        namespace_delete_objects(sweep);
    else
        namespace_make_missing(sweep, &missing);
}

/* ---- Changes of objects ---------------------------------------------------------------------- */

static void on_namespace_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct namespaces *namespaces = self;
    if (new_)
        workqueue_add(namespaces->queue, new_->name);
}

/* If an object is gone, a namespace that is being deleted may be empty now, or another namespace
 * may lack an object that it needs. */
static void on_namespace_object_changed(void *self, const struct kube_kind *resource,
                                        struct kube_object *old, struct kube_object *new_)
{
    struct namespaces *namespaces = self;
    if (!new_ && resource->id.namespaced)
        workqueue_add(namespaces->queue, old->namespace_);
}

static void *namespace_controller_start(struct hub *hub)
{
    struct namespaces *namespaces = mem_zalloc(sizeof(*namespaces));
    namespaces->hub = hub;
    namespaces->queue =
        workqueue_new(hub_loop(hub), PARALLEL, namespace_controller_work, namespaces);
    return namespaces;
}

static void namespace_controller_stop(void *self)
{
    struct namespaces *namespaces = self;
    workqueue_free(namespaces->queue);
    free(namespaces);
}

static const struct controller_watch NAMESPACE_WATCHES[] = {
    {"namespaces", on_namespace_changed},
    {NULL, NULL},
};

const struct controller NAMESPACE_CONTROLLER = {
    .start = namespace_controller_start,
    .stop = namespace_controller_stop,
    .watches = NAMESPACE_WATCHES,
    .other_changed = on_namespace_object_changed,
};

/* The life of namespaces: each keeps its default service account and certificate; one that is
 * deleted has all it holds deleted, says what it still waits for, and is let go when it is empty.
 */
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 8, RECHECK_MS = 200, PAGE_LIMIT = 100 };

struct namespaces {
    struct hub *hub;
    struct workqueue *queue;
};

/* One look at one namespace. */
struct sweep {
    struct hub_task task;
    struct namespaces *namespaces;
    char *name;
    size_t waiting;   /* calls under way */
    size_t remaining; /* objects that were there */
    bool failed;
    bool terminating;
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

static void last_answered(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_EXISTS)
        sweep->failed = true;
    sweep_end(sweep);
}

/* ---- Terminating ----------------------------------------------------------------------------- */

/* finalize is a subresource the client has no call for; to it, it is an object below the
 * namespace. */
static void let_go(struct sweep *sweep)
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
    kube_update(hub_client(sweep->namespaces->hub), &below, NULL, "finalize", object, last_answered,
                sweep);
}

/* "some content remains", with what, for who wonders why a namespace does not go. */
static void report_remaining(struct sweep *sweep)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char now[MOMENT_TEXT_MAX];
    moment_format(loop_wall_ms(hub_loop(sweep->namespaces->hub)), now);
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
    struct json *condition = json_object(arena);
    json_set_string(arena, condition, "type", "NamespaceContentRemaining");
    json_set_string(arena, condition, "status", "True");
    json_set_string(arena, condition, "reason", "SomeResourcesRemain");
    json_set_string(arena, condition, "message", message);
    json_set_string(arena, condition, "lastTransitionTime", now);
    struct json *patch = json_object(arena);
    struct json *status = json_ensure_object(arena, patch, "status");
    json_append(json_ensure_array(arena, status, "conditions"), condition);
    kube_patch(hub_client(sweep->namespaces->hub), &KUBE_NAMESPACES, NULL, sweep->name, "status",
               patch, last_answered, sweep);
}

static void settle(struct sweep *sweep)
{
    if (--sweep->waiting > 0)
        return;
    if (sweep->failed)
        sweep_end(sweep);
    else if (sweep->remaining > 0)
        report_remaining(sweep);
    else
        let_go(sweep);
}

static void deleted(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND)
        sweep->failed = true;
    settle(sweep);
}

/* A list asked of the API, not of an informer: what was made a moment ago must not be missed. */
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

static void listed(void *context, struct json *list, const struct err *err)
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
                    kube_meta_name(item), &options, deleted, sweep);
    }
    const char *more = json_get_string(json_get(list, "metadata"), "continue", "");
    if (*more) {
        list_page(listing, more);
        return;
    }
    hub_task_end(&listing->task);
    settle(sweep);
}

/* A namespace may have thousands of objects: no turn of the loop is to delete them all. */
static void list_page(struct listing *listing, const char *continue_)
{
    const struct kube_list_page page = {.limit = PAGE_LIMIT, .continue_ = continue_};
    const struct sweep *sweep = listing->sweep;
    kube_list_paged(hub_client(sweep->namespaces->hub), &listing->resource->id, sweep->name, &page,
                    listed, listing);
}

static void clear_out(struct sweep *sweep)
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
    settle(sweep);
}

/* ---- Alive ----------------------------------------------------------------------------------- */

static const char CERTIFICATE[] = "kube-root-ca.crt";

/* The objects that every namespace has, where a user deleted them. */
struct missing {
    bool account;
    bool certificate; /* kube-system has a copy of it */
};

static struct missing look(struct hub *hub, const char *namespace_)
{
    struct kube_informer *maps = hub_informer(hub, "configmaps");
    struct kube_informer *accounts = hub_informer(hub, "serviceaccounts");
    return (struct missing){
        .account = !kube_informer_get(accounts, namespace_, "default"),
        .certificate = !kube_informer_get(maps, namespace_, CERTIFICATE) &&
                       kube_informer_get(maps, "kube-system", CERTIFICATE),
    };
}

static void made(void *context, struct json *object, const struct err *err)
{
    struct sweep *sweep = context;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_EXISTS)
        sweep->failed = true;
    if (--sweep->waiting == 0)
        sweep_end(sweep);
}

/* The informer has no data of config maps, so the copy of kube-system is read when it is needed. */
static void on_certificate(void *context, struct json *object, const struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct sweep *sweep = context;
    if (err) {
        made(sweep, NULL, err);
        return;
    }
    struct json *map = kube_object_make(arena, &KUBE_CONFIGMAPS, sweep->name, CERTIFICATE);
    json_set(arena, map, "data", json_clone(arena, json_get(object, "data")));
    kube_create(hub_client(sweep->namespaces->hub), &KUBE_CONFIGMAPS, sweep->name, map, made,
                sweep);
}

static void make(struct sweep *sweep, const struct missing *missing)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = hub_client(sweep->namespaces->hub);
    sweep->waiting = (missing->account ? 1 : 0) + (missing->certificate ? 1 : 0);
    if (missing->account)
        kube_create(client, &KUBE_SERVICEACCOUNTS, sweep->name,
                    kube_object_make(arena, &KUBE_SERVICEACCOUNTS, sweep->name, "default"), made,
                    sweep);
    if (missing->certificate)
        kube_get(client, &KUBE_CONFIGMAPS, "kube-system", CERTIFICATE, on_certificate, sweep);
}

static void work(void *context, const char *name)
{
    struct namespaces *namespaces = context;
    struct kube_object *object =
        kube_informer_get(hub_informer(namespaces->hub, "namespaces"), "", name);
    struct missing missing = look(namespaces->hub, name);
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
        clear_out(sweep);
    else
        make(sweep, &missing);
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    struct namespaces *namespaces = self;
    if (str_eq(resource->id.plural, "namespaces")) {
        if (new_)
            workqueue_add(namespaces->queue, new_->name);
        return;
    }
    /* Something left, or the account is missing: the namespace may want to look. */
    if (!new_ && resource->id.namespaced)
        workqueue_add(namespaces->queue, old->namespace_);
}

static void *start(struct hub *hub)
{
    struct namespaces *namespaces = mem_zalloc(sizeof(*namespaces));
    namespaces->hub = hub;
    namespaces->queue = workqueue_new(hub_loop(hub), PARALLEL, work, namespaces);
    return namespaces;
}

static void stop(void *self)
{
    struct namespaces *namespaces = self;
    workqueue_free(namespaces->queue);
    free(namespaces);
}

const struct controller NAMESPACE_CONTROLLER = {start, changed, stop};

/* Deletes all custom resources of a CustomResourceDefinition that is being deleted, and removes the
 * definition's finalizer when none is left. When a definition is gone, the names that it used are
 * free. The controller then patches the definitions whose names were refused, so that the server
 * checks their names again. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/crd/definition.h"
#include "kube/client/workqueue.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 4, AGAIN_MS = 1000 };

struct cleaner {
    struct hub *hub;
    struct workqueue *queue; /* names of definitions */
};

/* The work on one definition. */
struct cleaning {
    struct hub_task task;
    struct cleaner *cleaner;
    char *name;
    struct registry_definition *row; /* the resource of the objects; NULL: not served */
    size_t waiting;                  /* calls in flight */
    size_t remaining;                /* objects in the list, including those being deleted */
    bool failed;                     /* a call has failed, so the work is repeated */
};

static void cleaning_release(struct hub_task *task)
{
    struct cleaning *cleaning = CONTAINER_OF(task, struct cleaning, task);
    registry_definition_unref(cleaning->row);
    free(cleaning->name);
    free(cleaning);
}

static void cleaning_end(struct cleaning *cleaning)
{
    /* An object with a finalizer may exist for a long time. The informer reports its deletion, and
     * the definition is checked again after AGAIN_MS in any case. */
    if (cleaning->remaining > 0 && !cleaning->failed)
        workqueue_add_after(cleaning->cleaner->queue, cleaning->name, AGAIN_MS);
    workqueue_done(cleaning->cleaner->queue, cleaning->name, cleaning->failed);
    hub_task_end(&cleaning->task);
}

static void cleaning_remove_finalizer(struct cleaning *cleaning);

static void on_definition_answered(void *context, struct json *object, const struct err *err)
{
    struct cleaning *cleaning = context;
    if (err && err->code != ERR_NOT_FOUND)
        cleaning->failed = true;
    if (--cleaning->waiting == 0)
        cleaning_remove_finalizer(cleaning);
}

static void on_definition_patched(void *context, struct json *object, const struct err *err)
{
    struct cleaning *cleaning = context;
    cleaning->failed = err && err->code != ERR_NOT_FOUND;
    cleaning_end(cleaning);
}

static struct kube_object *definition_find(struct cleaner *cleaner, const char *name)
{
    return kube_informer_get(hub_informer(cleaner->hub, DEFINITION_STORAGE), "", name);
}

/* Returns a patch that removes the finalizer of this controller and keeps all others. */
static struct json *finalizer_patch(struct arena *arena, const struct json *definition)
{
    struct json *patch = json_object(arena);
    struct json *meta = json_ensure_object(arena, patch, "metadata");
    struct json *list = json_ensure_array(arena, meta, "finalizers");
    json_set_string(arena, meta, "resourceVersion", kube_meta_resource_version(definition));
    JSON_EACH (finalizer, json_at(definition, "metadata", "finalizers", NULL))
        if (!str_eq(json_text(finalizer), DEFINITION_FINALIZER))
            json_append(list, json_clone(arena, finalizer));
    return patch;
}

/* Removes the finalizer if no object of the definition is left. Otherwise ends the work. */
static void cleaning_remove_finalizer(struct cleaning *cleaning)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_object *object = definition_find(cleaning->cleaner, cleaning->name);
    if (cleaning->failed || cleaning->remaining > 0 || !object) {
        cleaning_end(cleaning);
        return;
    }
    kube_patch(hub_client(cleaning->cleaner->hub), &DEFINITION_RESOURCE, NULL, cleaning->name, NULL,
               finalizer_patch(arena, object->json), on_definition_patched, cleaning);
}

static void on_definition_listed(void *context, struct json *list, const struct err *err)
{
    struct cleaning *cleaning = context;
    struct kube_delete_options options = {.grace_period_seconds = -1, .propagation = "Background"};
    JSON_EACH (item, json_get(list, "items")) {
        cleaning->remaining++;
        if (kube_meta_is_deleting(item))
            continue;
        cleaning->waiting++;
        kube_delete(hub_client(cleaning->cleaner->hub), &cleaning->row->rows[0].id,
                    kube_meta_namespace(item), kube_meta_name(item), &options,
                    on_definition_answered, cleaning);
    }
    on_definition_answered(cleaning, list, err);
}

static struct cleaning *cleaning_new(struct cleaner *cleaner, const char *name)
{
    struct cleaning *cleaning = mem_zalloc(sizeof(*cleaning));
    hub_task_begin(cleaner->hub, &cleaning->task, cleaning_release);
    cleaning->cleaner = cleaner;
    cleaning->name = mem_strdup(name);
    return cleaning;
}

static bool is_refused(const struct json *definition)
{
    return !kube_condition_is_true(definition, "NamesAccepted");
}

static void definition_work(void *context, const char *name)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cleaner *cleaner = context;
    const struct kube_object *object = definition_find(cleaner, name);
    struct kube_client *client = hub_client(cleaner->hub);
    bool dying = object && kube_meta_is_deleting(object->json) &&
                 kube_meta_has_finalizer(object->json, DEFINITION_FINALIZER);
    if (!object || (!dying && !is_refused(object->json))) {
        workqueue_done(cleaner->queue, name, false);
        return;
    }
    struct cleaning *cleaning = cleaning_new(cleaner, name);
    if (!dying) { /* the server checks the names on every write, even an empty patch */
        kube_patch(client, &DEFINITION_RESOURCE, NULL, name, NULL, json_object(arena),
                   on_definition_patched, cleaning);
        return;
    }
    cleaning->row = definition_watched_row(hub_registry(cleaner->hub), object->json);
    cleaning->waiting = 1;
    if (cleaning->row)
        kube_list(client, &cleaning->row->rows[0].id, NULL, NULL, NULL, on_definition_listed,
                  cleaning);
    else
        on_definition_answered(cleaning, NULL, NULL); /* the resource is not served: no objects */
}

/* Queues the definitions whose names were refused: the names may be free now. */
static void enqueue_refused(struct cleaner *cleaner)
{
    struct kube_informer *informer = hub_informer(cleaner->hub, DEFINITION_STORAGE);
    const struct kube_object *object;
    for (size_t at = 0; (object = kube_informer_next(informer, NULL, &at));)
        if (is_refused(object->json))
            workqueue_add(cleaner->queue, object->name);
}

/* The deleted object may be the last one of a definition that is being deleted. */
static void on_definition_object_changed(void *self, const struct kube_kind *resource,
                                         struct kube_object *old, struct kube_object *new_)
{
    struct cleaner *cleaner = self;
    if (resource->definition && !new_)
        workqueue_add(cleaner->queue, resource->storage);
}

static void on_definition_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct cleaner *cleaner = self;
    if (new_ && kube_meta_is_deleting(new_->json))
        workqueue_add(cleaner->queue, new_->name);
    else if (!new_)
        enqueue_refused(cleaner);
}

static void *definition_start(struct hub *hub)
{
    struct cleaner *cleaner = mem_zalloc(sizeof(*cleaner));
    cleaner->hub = hub;
    cleaner->queue = workqueue_new(hub_loop(hub), PARALLEL, definition_work, cleaner);
    return cleaner;
}

static void definition_stop(void *self)
{
    struct cleaner *cleaner = self;
    workqueue_free(cleaner->queue);
    free(cleaner);
}

static const struct controller_watch DEFINITION_WATCHES[] = {
    {DEFINITION_STORAGE, on_definition_changed},
    {NULL, NULL},
};

const struct controller DEFINITION_CONTROLLER = {
    .start = definition_start,
    .stop = definition_stop,
    .watches = DEFINITION_WATCHES,
    .other_changed = on_definition_object_changed,
};

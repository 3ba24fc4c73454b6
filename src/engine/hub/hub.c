/* Runs the informers and calls the controllers; see hub.h. */
#include "engine/hub/hub.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>

typedef void controller_changed(void *self, struct kube_object *old, struct kube_object *new_);

/* One watched resource. */
struct hub_source {
    struct hub *hub;
    const struct kube_kind *resource;
    struct kube_informer *informer;
    controller_changed **changed; /* per controller: its callback for this resource, or NULL */
};

struct hub {
    struct loop *loop;
    struct kube_client *client;
    struct registry *registry;
    const struct hub_options *options;
    VEC(struct hub_source *) sources;
    struct list_head tasks; /* struct hub_task */
    void **selves;          /* per controller: the return value of its start() */
};

struct loop *hub_loop(struct hub *hub)
{
    return hub->loop;
}

struct kube_client *hub_client(struct hub *hub)
{
    return hub->client;
}

const struct registry *hub_registry(struct hub *hub)
{
    return hub->registry;
}

static struct hub_source *hub_find_source(struct hub *hub, const char *storage)
{
    for (size_t i = 0; i < hub->sources.count; i++)
        if (str_eq(hub->sources.items[i]->resource->storage, storage))
            return hub->sources.items[i];
    return NULL;
}

struct kube_informer *hub_find_informer(struct hub *hub, const char *storage)
{
    const struct hub_source *source = hub_find_source(hub, storage);
    return source ? source->informer : NULL;
}

const struct kube_kind *hub_find_resource(struct hub *hub, const char *storage)
{
    const struct hub_source *source = hub_find_source(hub, storage);
    return source ? source->resource : NULL;
}

struct kube_informer *hub_informer(struct hub *hub, const char *storage)
{
    struct kube_informer *informer = hub_find_informer(hub, storage);
    if (!informer)
        mem_panic("no informer of '%s'", storage);
    return informer;
}

bool hub_synced(struct hub *hub)
{
    for (size_t i = 0; i < hub->sources.count; i++)
        if (!kube_informer_synced(hub->sources.items[i]->informer))
            return false;
    return true;
}

void hub_task_begin(struct hub *hub, struct hub_task *task, void (*release)(struct hub_task *task))
{
    task->release = release;
    list_append(&hub->tasks, &task->link);
}

void hub_task_end(struct hub_task *task)
{
    list_remove(&task->link);
    task->release(task);
}

/* ---- Watched resources ----------------------------------------------------------------------- */

static void on_hub_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct hub_source *source = context;
    struct hub *hub = source->hub;
    for (size_t i = 0; i < hub->options->controller_count; i++) {
        const struct controller *controller = hub->options->controllers[i];
        if (source->changed[i])
            source->changed[i](hub->selves[i], old, new_);
        else if (controller->other_changed)
            controller->other_changed(hub->selves[i], source->resource, old, new_);
    }
}

static controller_changed *hub_find_watch(const struct controller *controller, const char *storage)
{
    const struct controller_watch *watch = controller->watches;
    for (; watch && watch->storage; watch++)
        if (str_eq(watch->storage, storage))
            return watch->changed;
    return NULL;
}

static const char *const *hub_kept_paths(const struct hub_options *options,
                                         const struct kube_kind *resource)
{
    if (resource->definition)
        return options->custom_paths;
    for (const struct hub_fields *fields = options->fields; fields->storage; fields++)
        if (str_eq(fields->storage, resource->storage))
            return fields->paths;
    return NULL;
}

static void hub_add_source(struct hub *hub, const struct kube_kind *resource)
{
    const struct hub_options *options = hub->options;
    struct hub_source *source = mem_zalloc(sizeof(*source));
    source->hub = hub;
    source->resource = registry_ref(resource);
    source->changed = mem_zalloc(options->controller_count * sizeof(*source->changed));
    for (size_t i = 0; i < options->controller_count; i++)
        source->changed[i] = hub_find_watch(options->controllers[i], resource->storage);
    vec_push(&hub->sources, source);
    source->informer =
        kube_informer_new(hub->client, &resource->id, NULL, NULL, on_hub_change, source);
    const char *const *paths = hub_kept_paths(options, resource);
    if (paths)
        kube_informer_keep(source->informer, paths);
}

static void hub_source_free(struct hub_source *source)
{
    kube_informer_free(source->informer);
    registry_unref(source->resource);
    free(source->changed);
    free(source);
}

static void hub_remove_source(struct hub *hub, const char *storage)
{
    for (size_t i = 0; i < hub->sources.count; i++) {
        struct hub_source *source = hub->sources.items[i];
        struct kube_object *object;
        if (!str_eq(source->resource->storage, storage))
            continue;
        vec_remove(&hub->sources, i);
        for (size_t at = 0; (object = kube_informer_next(source->informer, NULL, &at));)
            on_hub_change(source, object, NULL);
        hub_source_free(source);
        return;
    }
}

void hub_add_definition(struct hub *hub, struct registry_definition *definition)
{
    registry_put(hub->registry, definition);
    hub_add_source(hub, &definition->rows[0]);
}

void hub_remove_definition(struct hub *hub, const char *storage)
{
    registry_remove(hub->registry, storage);
    hub_remove_source(hub, storage);
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

struct hub *hub_new(struct loop *loop, struct http_transport *transport, struct registry *registry,
                    const struct hub_options *options)
{
    struct hub *hub = mem_zalloc(sizeof(*hub));
    hub->loop = loop;
    hub->options = options;
    hub->client = kube_client_new(loop, transport, "trainyard-controllers");
    hub->registry = registry;
    hub->selves = mem_zalloc(options->controller_count * sizeof(*hub->selves));
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(hub->registry, i)); i++)
        if (!str_eq(resource->id.plural, "events") && !resource->transient)
            hub_add_source(hub, resource);
    for (size_t i = 0; i < options->controller_count; i++)
        hub->selves[i] = options->controllers[i]->start(hub);
    return hub;
}

struct hub *hub_free(struct hub *hub)
{
    if (!hub)
        return NULL;
    for (size_t i = 0; i < hub->sources.count; i++)
        hub_source_free(hub->sources.items[i]);
    vec_release(&hub->sources);
    /* After this call no response arrives, so only the tasks still refer to the controllers. */
    kube_client_free(hub->client);
    while (!list_is_empty(&hub->tasks))
        hub_task_end(LIST_FIRST(&hub->tasks, struct hub_task, link));
    for (size_t i = 0; i < hub->options->controller_count; i++)
        hub->options->controllers[i]->stop(hub->selves[i]);
    registry_free(hub->registry);
    free(hub->selves);
    free(hub);
    return NULL;
}

/* The built-in controllers put together: see hub.h for what they share and engine.h for what they
 * do. */
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/controllers/hub.h"
#include "engine/crd/definition.h"
#include "engine/engine.h"

#include <stdlib.h>

static const struct controller *const CONTROLLERS[] = {
    &SCHEDULER_CONTROLLER,      &GARBAGE_CONTROLLER,     &NAMESPACE_CONTROLLER,
    &ENDPOINTS_CONTROLLER,      &CLAIM_CONTROLLER,       &EVENT_CONTROLLER,
    &STRANDED_CONTROLLER,       &JOB_CONTROLLER,         &JOB_ORPHAN_CONTROLLER,
    &POD_GROUP_CONTROLLER,      &REPLICA_SET_CONTROLLER, &DEPLOYMENT_CONTROLLER,
    &ENDPOINT_SLICE_CONTROLLER, &DEFINITION_CONTROLLER,  &TAINT_CONTROLLER,
    &NO_EXECUTE_CONTROLLER,     &QUOTA_CONTROLLER,       &EPHEMERAL_CONTROLLER,
};

enum { CONTROLLER_COUNT = sizeof(CONTROLLERS) / sizeof(CONTROLLERS[0]) };

/* Of pods there may be thousands: what the controllers decide on, and no more. */
static const char *const POD_FIELDS[] = {
    "kind",
    "metadata.annotations",
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.labels",
    "metadata.ownerReferences",
    "spec.affinity",
    "spec.containers.name",
    "spec.containers.ports",
    "spec.containers.resources.requests",
    "spec.hostname",
    "spec.initContainers.name",
    "spec.initContainers.ports",
    "spec.initContainers.resources.requests",
    "spec.nodeName",
    "spec.nodeSelector",
    "spec.preemptionPolicy",
    "spec.priority",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.schedulingGates",
    "spec.subdomain",
    "spec.tolerations",
    "spec.topologySpreadConstraints",
    "spec.volumes.ephemeral",
    "spec.volumes.name",
    "spec.volumes.persistentVolumeClaim",
    "status",
    NULL,
};

/* Of a definition all but its schemas. */
static const char *const DEFINITION_FIELDS[] = {
    "kind",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.ownerReferences",
    "spec.group",
    "spec.names",
    "spec.scope",
    "spec.versions.name",
    "spec.versions.served",
    "spec.versions.storage",
    "status.conditions",
    NULL,
};

/* For resources whose content no controller reads: the fields that the garbage collector reads. */
static const char *const OWNERSHIP_FIELDS[] = {
    "kind", "metadata.deletionTimestamp", "metadata.finalizers", "metadata.ownerReferences", NULL,
};

/* One resource as it is watched. */
struct source {
    struct hub *hub;
    const struct kube_kind *resource;
    struct kube_informer *informer;
};

struct hub {
    struct loop *loop;
    struct kube_client *client;
    struct registry *registry;
    VEC(struct source *) sources;
    struct hub_task tasks; /* head of a ring */
    void *selves[CONTROLLER_COUNT];
};

/* The public name of the hub. */
struct engine_controllers {
    struct hub hub;
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

struct kube_informer *hub_find_informer(struct hub *hub, const char *storage)
{
    for (size_t i = 0; i < hub->sources.count; i++)
        if (str_eq(hub->sources.items[i]->resource->storage, storage))
            return hub->sources.items[i]->informer;
    return NULL;
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
    task->next = &hub->tasks;
    task->previous = hub->tasks.previous;
    task->previous->next = task;
    hub->tasks.previous = task;
}

void hub_task_end(struct hub_task *task)
{
    task->previous->next = task->next;
    task->next->previous = task->previous;
    task->release(task);
}

static void follow_definition(struct hub *hub, const struct kube_object *old,
                              const struct kube_object *new_);

static void on_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct source *source = context;
    if (str_eq(source->resource->storage, DEFINITION_STORAGE))
        follow_definition(source->hub, old, new_);
    for (size_t i = 0; i < CONTROLLER_COUNT; i++)
        if (CONTROLLERS[i]->changed)
            CONTROLLERS[i]->changed(source->hub->selves[i], source->resource, old, new_);
}

static void add_source(struct hub *hub, const struct kube_kind *resource)
{
    struct source *source = mem_zalloc(sizeof(*source));
    source->hub = hub;
    source->resource = registry_ref(resource);
    vec_push(&hub->sources, source);
    source->informer = kube_informer_new(hub->client, &resource->id, NULL, NULL, on_change, source);
    if (str_eq(resource->storage, "pods"))
        kube_informer_keep(source->informer, POD_FIELDS);
    else if (str_eq(resource->storage, DEFINITION_STORAGE))
        kube_informer_keep(source->informer, DEFINITION_FIELDS);
    else if (resource->definition || str_eq(resource->storage, "configmaps") ||
             str_eq(resource->storage, "secrets"))
        kube_informer_keep(source->informer, OWNERSHIP_FIELDS);
}

static void source_free(struct source *source)
{
    kube_informer_free(source->informer);
    registry_unref(source->resource);
    free(source);
}

/* What it has shown is gone for who looks at it. */
static void remove_source(struct hub *hub, const char *storage)
{
    for (size_t i = 0; i < hub->sources.count; i++) {
        struct source *source = hub->sources.items[i];
        struct kube_object *object;
        if (!str_eq(source->resource->storage, storage))
            continue;
        vec_remove(&hub->sources, i);
        for (size_t at = 0; (object = kube_informer_next(source->informer, NULL, &at));)
            on_change(source, object, NULL);
        source_free(source);
        return;
    }
}

/* Its objects are watched as long as it is there, anew where it turned to another version. */
static void follow_definition(struct hub *hub, const struct kube_object *old,
                              const struct kube_object *new_)
{
    const char *name = new_ ? new_->name : old->name;
    struct registry_definition *row =
        new_ ? definition_watched_row(hub->registry, new_->json) : NULL;
    const struct kube_kind *present = NULL;
    for (size_t i = 0; i < hub->sources.count; i++)
        if (str_eq(hub->sources.items[i]->resource->storage, name))
            present = hub->sources.items[i]->resource;
    if (present && !present->definition) {
        registry_definition_unref(row);
        return;
    }
    if (present && row && str_eq(present->api_version, row->rows[0].api_version) &&
        str_eq(present->id.kind, row->rows[0].id.kind)) {
        registry_definition_unref(row);
        return;
    }
    registry_remove(hub->registry, name);
    remove_source(hub, name);
    if (!row)
        return;
    registry_put(hub->registry, row);
    add_source(hub, &row->rows[0]);
}

struct engine_controllers *engine_controllers_new(struct loop *loop,
                                                  struct http_transport *transport,
                                                  const struct kube_kind *const *kinds)
{
    struct engine_controllers *controllers = mem_zalloc(sizeof(*controllers));
    struct hub *hub = &controllers->hub;
    hub->loop = loop;
    hub->tasks.next = hub->tasks.previous = &hub->tasks;
    hub->client = kube_client_new(loop, transport, "trainyard-controllers");
    hub->registry = registry_new(kinds, NULL);
    registry_add(hub->registry, &DEFINITION_KIND);
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(hub->registry, i)); i++)
        if (!str_eq(resource->id.plural, "events") && !resource->transient)
            add_source(hub, resource);
    for (size_t i = 0; i < CONTROLLER_COUNT; i++)
        hub->selves[i] = CONTROLLERS[i]->start(hub);
    return controllers;
}

struct engine_controllers *engine_controllers_free(struct engine_controllers *controllers)
{
    if (!controllers)
        return NULL;
    struct hub *hub = &controllers->hub;
    for (size_t i = 0; i < hub->sources.count; i++)
        source_free(hub->sources.items[i]);
    vec_release(&hub->sources);
    /* No answer comes any more; then nothing refers to the controllers. */
    kube_client_free(hub->client);
    while (hub->tasks.next != &hub->tasks)
        hub_task_end(hub->tasks.next);
    for (size_t i = 0; i < CONTROLLER_COUNT; i++)
        CONTROLLERS[i]->stop(hub->selves[i]);
    registry_free(hub->registry);
    free(controllers);
    return NULL;
}

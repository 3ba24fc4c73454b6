/* Lists the built-in controllers and the fields that the hub keeps of the objects that they watch.
 * Implements engine_controllers_new() of engine.h. */
#include "engine/controllers/controllers.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "engine/engine.h"
#include "engine/scheduler/controller.h"

#include <stdlib.h>

/* Watches the objects of a CustomResourceDefinition as long as the definition is established and
 * either serves a version or is being deleted. Restarts the watch if the version in which it
 * watches the objects changes, or their kind. */
static void on_definition_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct hub *hub = self;
    const char *name = new_ ? new_->name : old->name;
    struct registry_definition *row =
        new_ ? definition_watched_row(hub_registry(hub), new_->json) : NULL;
    const struct kube_kind *present = hub_find_resource(hub, name);
    bool is_built_in = present && !present->definition;
    bool is_same = present && row && str_eq(present->api_version, row->rows[0].api_version) &&
                   str_eq(present->id.kind, row->rows[0].id.kind);
    if (is_built_in || is_same) {
        registry_definition_unref(row);
        return;
    }
    hub_remove_definition(hub, name);
    if (row)
        hub_add_definition(hub, row);
}

static void *definition_watcher_start(struct hub *hub)
{
    return hub;
}

static void definition_watcher_stop(void *self)
{
}

static const struct controller_watch DEFINITION_WATCHES[] = {
    {DEFINITION_STORAGE, on_definition_changed},
    {NULL, NULL},
};

/* Must be the first of CONTROLLERS: when the other controllers see a changed definition, the hub
 * already knows its resource. */
static const struct controller DEFINITION_WATCHER = {
    .start = definition_watcher_start,
    .stop = definition_watcher_stop,
    .watches = DEFINITION_WATCHES,
};

static const struct controller *const CONTROLLERS[] = {
    &DEFINITION_WATCHER,    &SCHEDULER_CONTROLLER,      &GARBAGE_CONTROLLER,
    &NAMESPACE_CONTROLLER,  &ENDPOINTS_CONTROLLER,      &CLAIM_CONTROLLER,
    &EVENT_CONTROLLER,      &POD_GC_CONTROLLER,         &JOB_CONTROLLER,
    &JOB_ORPHAN_CONTROLLER, &POD_GROUP_CONTROLLER,      &REPLICA_SET_CONTROLLER,
    &DEPLOYMENT_CONTROLLER, &ENDPOINT_SLICE_CONTROLLER, &DEFINITION_CONTROLLER,
    &TAINT_CONTROLLER,      &TAINT_EVICTION_CONTROLLER, &QUOTA_CONTROLLER,
    &EPHEMERAL_CONTROLLER,
};

/* The fields of a pod that the controllers read. The hub keeps no others (except the identity of
 * the pod), because there may be thousands of pods. */
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
    "spec.initContainers.restartPolicy",
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

/* The fields of a CustomResourceDefinition that the controllers read. Its schemas, which are large,
 * are not kept. */
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

static const struct hub_fields FIELDS[] = {
    {"pods", POD_FIELDS},
    {DEFINITION_STORAGE, DEFINITION_FIELDS},
    {"configmaps", OWNERSHIP_FIELDS},
    {"secrets", OWNERSHIP_FIELDS},
    {NULL, NULL},
};

static const struct hub_options OPTIONS = {
    .controllers = CONTROLLERS,
    .controller_count = ARRAY_SIZE(CONTROLLERS),
    .fields = FIELDS,
    .custom_paths = OWNERSHIP_FIELDS,
};

/* The type that engine.h declares; it hides the hub from callers. */
struct engine_controllers {
    struct hub *hub;
};

struct engine_controllers *engine_controllers_new(struct loop *loop,
                                                  struct http_transport *transport,
                                                  const struct kube_kind *const *kinds)
{
    struct engine_controllers *controllers = mem_zalloc(sizeof(*controllers));
    struct registry *registry = registry_new(kinds, NULL);
    registry_add(registry, &DEFINITION_KIND);
    controllers->hub = hub_new(loop, transport, registry, &OPTIONS);
    return controllers;
}

struct engine_controllers *engine_controllers_free(struct engine_controllers *controllers)
{
    if (!controllers)
        return NULL;
    hub_free(controllers->hub);
    free(controllers);
    return NULL;
}

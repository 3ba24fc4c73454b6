/* The hub runs the built-in controllers. It gives them one API client and one informer per
 * resource, and reports to each controller the changes of the resources that the controller
 * watches. A controller is a struct of functions (struct controller). A controller reads objects
 * from the informers and writes them through the client. It must not use the store.
 * engine/controllers/controllers.c creates the hub. All functions must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_HUB_HUB_H
#define TRAINYARD_ENGINE_HUB_HUB_H

#include "base/list.h"
#include "engine/kinds/registry.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "loop/loop.h"

struct hub;

struct loop *hub_loop(struct hub *hub);
struct kube_client *hub_client(struct hub *hub);

/* Returns the registry of the hub: all resources, each in the version in which the hub watches it.
 * The row (struct kube_kind) of a custom resource is freed when its definition is removed. A
 * controller that uses a row in a later turn of the loop must take a reference (registry_ref()). */
const struct registry *hub_registry(struct hub *hub);

/* Returns the informer of a resource by its storage name ("pods", "jobs.batch"). Panics if the
 * resource has no informer. Event objects have no informer, because there are many of them and no
 * controller needs their changes. Kinds that are never stored have none either. */
struct kube_informer *hub_informer(struct hub *hub, const char *storage);
/* Like hub_informer(), but returns NULL if the resource has no informer. Must be used if the
 * resource may be a custom resource, because its definition may have been removed. */
struct kube_informer *hub_find_informer(struct hub *hub, const char *storage);
bool hub_synced(struct hub *hub); /* returns whether every informer has its first list */

/* A request of a controller that has not been answered yet. It is embedded in the context that the
 * controller passes to the client. After hub_free() no response arrives, so hub_free() releases the
 * tasks that have not ended. */
struct hub_task {
    struct list_link link;                  /* in the hub's list of tasks */
    void (*release)(struct hub_task *task); /* frees the task */
};
/* Adds a task. The controller calls hub_task_end() when the request has been answered. */
void hub_task_begin(struct hub *hub, struct hub_task *task, void (*release)(struct hub_task *task));
void hub_task_end(struct hub_task *task); /* removes the task and calls `release` */

/* A resource that a controller watches. */
struct controller_watch {
    const char *storage; /* the storage name of the resource: "pods", "jobs.batch" */
    /* Called when the informer shows a new object (`old` is NULL), a changed object or a deletion
     * (`new_` is NULL). */
    void (*changed)(void *self, struct kube_object *old, struct kube_object *new_);
};

struct controller {
    void *(*start)(struct hub *hub);        /* returns `self` */
    void (*stop)(void *self);               /* frees `self` */
    const struct controller_watch *watches; /* ends with storage NULL; NULL: no watches */
    /* Like controller_watch.changed, but for every other resource that has an informer, including
     * custom resources. NULL: the controller does not watch other resources. */
    void (*other_changed)(void *self, const struct kube_kind *resource, struct kube_object *old,
                          struct kube_object *new_);
};

/* The fields that an informer keeps of the objects of a resource. */
struct hub_fields {
    const char *storage;
    const char *const *paths; /* NULL-terminated; see kube_informer_keep() */
};

struct hub_options {
    /* The hub reports every change to the controllers in this order. */
    const struct controller *const *controllers;
    size_t controller_count;
    const struct hub_fields *fields; /* ends with storage NULL; other resources keep all fields */
    const char *const *custom_paths; /* the fields of custom resources that are kept; NULL: all */
};

/* Starts an informer for each kind of the registry (see hub_informer() for the exceptions), and
 * then the controllers. Takes ownership of the registry. The options and the transport must outlive
 * the hub. */
struct hub *hub_new(struct loop *loop, struct http_transport *transport, struct registry *registry,
                    const struct hub_options *options);
struct hub *hub_free(struct hub *hub); /* NULL-safe; returns NULL */

/* Returns the watched resource with this storage name, or NULL. */
const struct kube_kind *hub_find_resource(struct hub *hub, const char *storage);
/* Adds the definition to the registry of the hub and starts to watch the resource of its first row.
 * The hub must not watch a resource with the same storage name. Takes over the caller's reference.
 */
void hub_add_definition(struct hub *hub, struct registry_definition *definition);
/* Removes the definition from the registry of the hub and stops watching its resource. Reports the
 * objects of the resource as deleted to the controllers. Does nothing if the hub watches no
 * resource with this storage name. Must not be called for a built-in kind. */
void hub_remove_definition(struct hub *hub, const char *storage);

#endif

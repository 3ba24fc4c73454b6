/* The hub gives the built-in controllers one API client, one informer per resource, and the changes
 * of the resources that each controller watches. A controller is a row of functions (struct
 * controller). It reads the informers, acts through the client, and never sees the store. */
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

/* All resources, each in the one version in which it is watched. The row of a custom resource goes
 * with its definition: a controller that keeps a row during a call must hold a reference. */
const struct registry *hub_registry(struct hub *hub);

/* The informer of a resource, by the name under which the resource is stored ("pods",
 * "jobs.batch"). Panics if there is none. Events have no informer: they are many, and no controller
 * decides on them. */
struct kube_informer *hub_informer(struct hub *hub, const char *storage);
/* Like hub_informer(), but returns NULL if there is none. For custom resources, whose definition
 * may be gone. */
struct kube_informer *hub_find_informer(struct hub *hub, const char *storage);
bool hub_synced(struct hub *hub); /* every informer has its first list */

/* The context of calls in flight, embedded first in what a controller passes to the client. After
 * the hub is freed no response arrives: hub_free() releases the tasks that are still open. */
struct hub_task {
    struct list_link link;                  /* in the hub's list of tasks */
    void (*release)(struct hub_task *task); /* frees it */
};
void hub_task_begin(struct hub *hub, struct hub_task *task, void (*release)(struct hub_task *task));
void hub_task_end(struct hub_task *task); /* releases it */

/* A resource that a controller watches. */
struct controller_watch {
    const char *storage; /* the name under which the resource is stored: "pods", "jobs.batch" */
    /* An object was created (old NULL), changed, or deleted (new_ NULL). */
    void (*changed)(void *self, struct kube_object *old, struct kube_object *new_);
};

struct controller {
    void *(*start)(struct hub *hub);        /* returns `self` */
    void (*stop)(void *self);               /* frees it */
    const struct controller_watch *watches; /* up to a row without storage; NULL: none */
    /* Like controller_watch.changed, for every resource that has no row in `watches`, custom
     * resources included. NULL: the controller does not watch the others. */
    void (*other_changed)(void *self, const struct kube_kind *resource, struct kube_object *old,
                          struct kube_object *new_);
};

/* Which fields of a resource's objects the informer keeps. */
struct hub_fields {
    const char *storage;
    const char *const *paths; /* up to NULL, as kube_informer_keep() wants them */
};

struct hub_options {
    const struct controller *const *controllers; /* told of each change in this order */
    size_t controller_count;
    const struct hub_fields *fields; /* up to a row without storage; other resources keep all */
    const char *const *custom_paths; /* the fields that are kept of custom resources */
};

/* Starts the controllers and their informers, on the kinds of the registry. The hub frees the
 * registry. The options must live as long as the hub. */
struct hub *hub_new(struct loop *loop, struct http_transport *transport, struct registry *registry,
                    const struct hub_options *options);
struct hub *hub_free(struct hub *hub); /* NULL-safe; returns NULL */

/* The watched resource, or NULL. */
const struct kube_kind *hub_find_resource(struct hub *hub, const char *storage);
/* Starts to watch the resource of a definition. Takes the reference. */
void hub_add_definition(struct hub *hub, struct registry_definition *definition);
/* Stops to watch the resource of this name. The controllers are told that its objects are gone. */
void hub_remove_definition(struct hub *hub, const char *storage);

#endif

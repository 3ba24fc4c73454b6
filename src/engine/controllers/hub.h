/* What the built-in controllers share: one client, one informer for each resource, and the change
 * of each object told to all of them. A controller is a row of functions (CONTROLLERS in
 * controllers.c); it reads the informers, acts through the client, and never sees the store. */
#ifndef TRAINYARD_ENGINE_HUB_H
#define TRAINYARD_ENGINE_HUB_H

#include "engine/kinds/registry.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "loop/loop.h"

struct hub;

struct loop *hub_loop(struct hub *hub);
struct kube_client *hub_client(struct hub *hub);

/* All there is, each kind in the one version in which it is watched. A custom resource's row may go
 * with its definition: who keeps one while a call is under way holds it. */
const struct registry *hub_registry(struct hub *hub);

/* The informer of a resource, by the name it is stored under ("pods", "jobs.batch"); events have
 * none: they are many and nobody decides on them. hub_find_informer() is for what may be a custom
 * resource, and NULL for one that is gone. */
struct kube_informer *hub_informer(struct hub *hub, const char *storage);
struct kube_informer *hub_find_informer(struct hub *hub, const char *storage);
bool hub_synced(struct hub *hub); /* every informer has its first list */

/* The context of calls under way. When the hub goes, no answer comes any more: what is still open
 * is released then. Embedded first in what a controller passes to the client. */
struct hub_task {
    struct hub_task *next, *previous;
    void (*release)(struct hub_task *task); /* frees it */
};
void hub_task_begin(struct hub *hub, struct hub_task *task, void (*release)(struct hub_task *task));
void hub_task_end(struct hub_task *task); /* releases it */

struct controller {
    void *(*start)(struct hub *hub);
    /* An object is new (old NULL), changed, or gone (new_ NULL). */
    void (*changed)(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_);
    void (*stop)(void *self); /* frees it */
};

extern const struct controller SCHEDULER_CONTROLLER, GARBAGE_CONTROLLER, NAMESPACE_CONTROLLER,
    ENDPOINTS_CONTROLLER, CLAIM_CONTROLLER, EVENT_CONTROLLER, STRANDED_CONTROLLER, JOB_CONTROLLER,
    JOB_ORPHAN_CONTROLLER, POD_GROUP_CONTROLLER, REPLICA_SET_CONTROLLER, DEPLOYMENT_CONTROLLER,
    ENDPOINT_SLICE_CONTROLLER, DEFINITION_CONTROLLER, TAINT_CONTROLLER, NO_EXECUTE_CONTROLLER,
    QUOTA_CONTROLLER, EPHEMERAL_CONTROLLER;

#endif

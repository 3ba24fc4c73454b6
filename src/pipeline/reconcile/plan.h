/* The result of a reconcile: the new status, actions and events. The controller writes the status
 * first, so that every step is recorded before it begins. Then it records the events and carries
 * out the actions. All memory is in the arena of the reconcile. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_PLAN_H
#define TRAINYARD_PIPELINE_RECONCILE_PLAN_H

#include "base/json/json.h"
#include "kube/resource.h"

enum workflow_action_type {
    WORKFLOW_CREATE_POD,
    WORKFLOW_DELETE_POD,
    WORKFLOW_LABEL_POD, /* label the pod as completed */
    WORKFLOW_CREATE_CLAIM,
    WORKFLOW_CREATE_ACCOUNT, /* create a service account, if it does not exist */
    WORKFLOW_CREATE_BINDING, /* create the account's role binding, if it does not exist */
    WORKFLOW_DELETE_CLAIM,
    /* The actions of a resource template; the result is kept for the next pass. */
    WORKFLOW_CREATE_RESOURCE,
    WORKFLOW_APPLY_RESOURCE,
    WORKFLOW_PATCH_RESOURCE,
    WORKFLOW_GET_RESOURCE,
    WORKFLOW_DELETE_RESOURCE,
    WORKFLOW_DELETE_WORKFLOW,
};

struct workflow_action {
    enum workflow_action_type type;
    /* The key under which the result is kept: the id of the node, or "Kind/name" for an object that
     * must exist before the workflow begins. NULL: no result is kept. For WORKFLOW_CREATE_POD only
     * an error is kept. */
    const char *node_id;
    const char *namespace_, *name;
    /* The uid of the pod or workflow to delete, so that a new object with the same name is not
     * deleted; or NULL. */
    const char *uid;
    const struct json *object; /* the object to create, or the manifest of a resource template */
    struct kube_resource resource; /* for the actions of a resource template */
};

struct workflow_event {
    bool warning;
    const char *reason, *message;
};

struct workflow_plan {
    struct arena *arena;
    struct workflow_action *actions;
    size_t action_count, action_capacity;
    struct workflow_event *events;
    size_t event_count, event_capacity;
    const struct json *status; /* the new status; NULL: unchanged */
    const struct json *labels; /* labels to set on the workflow together with the status */
    int64_t requeue_ms; /* reconcile again after this time; -1: only when something changes */
};

void workflow_plan_init(struct workflow_plan *plan, struct arena *arena);
/* Adds an action. The caller sets the other members of the returned action before the next call. */
struct workflow_action *workflow_plan_add(struct workflow_plan *plan,
                                          enum workflow_action_type type, const char *namespace_,
                                          const char *name);
void workflow_plan_event(struct workflow_plan *plan, bool warning, const char *reason,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Plans another pass after the delay. Only the shortest delay counts. */
void workflow_plan_requeue(struct workflow_plan *plan, int64_t delay_ms);

#endif

/* What the reconcile wants done, as data. The controller does it in this order: the status, so that
 * what is begun is written down before it begins, then the actions, then the events. Everything
 * lives in the reconcile's arena. */
#ifndef TRAINYARD_PIPELINE_PLAN_H
#define TRAINYARD_PIPELINE_PLAN_H

#include "base/json/json.h"
#include "kube/resource.h"

enum workflow_action_type {
    WORKFLOW_CREATE_POD,
    WORKFLOW_DELETE_POD,
    WORKFLOW_LABEL_POD, /* as completed */
    WORKFLOW_CREATE_CLAIM,
    WORKFLOW_CREATE_ACCOUNT, /* a service account, if it is not there */
    WORKFLOW_CREATE_BINDING, /* the account's rights, if they are not there */
    WORKFLOW_DELETE_CLAIM,
    /* The work of a resource template; its result is kept for the next pass. */
    WORKFLOW_CREATE_RESOURCE,
    WORKFLOW_APPLY_RESOURCE,
    WORKFLOW_PATCH_RESOURCE,
    WORKFLOW_GET_RESOURCE,
    WORKFLOW_DELETE_RESOURCE,
    WORKFLOW_DELETE_WORKFLOW,
};

struct workflow_action {
    enum workflow_action_type type;
    const char *node_id; /* whose work it is, or NULL */
    const char *namespace_, *name;
    const char *uid; /* of a pod that is deleted, so that its successor is spared; or NULL */
    const struct json *object;
    struct kube_resource resource; /* of a resource template */
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
    const struct json *status; /* the new one; NULL: as it is */
    const struct json *labels; /* to set on the workflow, with the status */
    int64_t requeue_ms;        /* look again after so long; -1: when something changes */
};

void workflow_plan_init(struct workflow_plan *plan, struct arena *arena);
/* The new action, to be filled in further. */
struct workflow_action *workflow_plan_add(struct workflow_plan *plan,
                                          enum workflow_action_type type, const char *namespace_,
                                          const char *name);
void workflow_plan_event(struct workflow_plan *plan, bool warning, const char *reason,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
void workflow_plan_requeue(struct workflow_plan *plan, int64_t delay_ms); /* the earliest wins */

#endif

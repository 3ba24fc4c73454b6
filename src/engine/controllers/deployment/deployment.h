/* The decisions of the Deployment controller: the input is a deployment, its replica sets and the
 * time, the output the actions. A pure function; one pass takes at most one step of a rollout.
 *
 * Each template that a deployment had is a ReplicaSet, and a rollout changes their sizes: the new
 * set grows while the sum stays within replicas + maxSurge, and the old sets shrink while the
 * available pods stay at or above replicas - maxUnavailable. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_DEPLOYMENT_H
#define TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_DEPLOYMENT_H

#include "base/json/json.h"

#define DEPLOYMENT_REVISION   "deployment.kubernetes.io/revision"
#define DEPLOYMENT_HISTORY    "deployment.kubernetes.io/revision-history"
#define DEPLOYMENT_DESIRED    "deployment.kubernetes.io/desired-replicas"
#define DEPLOYMENT_MAX        "deployment.kubernetes.io/max-replicas"
#define DEPLOYMENT_HASH_LABEL "pod-template-hash"

/* The actions are carried out in this order. */
enum deployment_action_type {
    DEPLOYMENT_ADOPT,   /* a set without a controller that the selector matches */
    DEPLOYMENT_RELEASE, /* a set of this deployment that the selector no longer matches */
    DEPLOYMENT_CREATE_SET,
    DEPLOYMENT_PATCH_SET,
    DEPLOYMENT_DELETE_SET,
    DEPLOYMENT_ACTION_TYPES,
};

struct deployment_action {
    enum deployment_action_type type;
    const struct json *set;   /* the present set, or the new one */
    const struct json *patch; /* a merge patch for DEPLOYMENT_PATCH_SET */
    const char *event;        /* the message of the event after success; NULL: none */
};

struct deployment_observed {
    const struct json *deployment;
    /* Sets of its namespace that it controls, or that have no controller. */
    const struct json *const *sets;
    size_t set_count;
    const struct json *const *pods; /* the pods that the sets control */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

struct deployment_plan {
    struct deployment_action *actions;
    size_t action_count, action_capacity;
    struct json *status;  /* the new status if all actions succeed */
    const char *revision; /* to be written into its annotations; NULL: it is there already */
    int64_t requeue_ms;   /* reconcile again after this time; -1: when an object changes */
};

void deployment_reconcile(struct arena *arena, const struct deployment_observed *observed,
                          struct deployment_plan *ret);

/* Write into the status why the new set was not created. After a collision, the name of another
 * set, the next pass uses another hash. Every other reason is a failure. */
void deployment_note_collision(struct arena *arena, struct json *status);
void deployment_note_failure(struct arena *arena, struct json *status, const char *message,
                             int64_t now_ms);

/* Whether both templates are equal apart from the label with the hash. */
bool deployment_same_template(const struct json *a, const struct json *b);

#endif

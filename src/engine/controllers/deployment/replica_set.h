/* The decisions of the ReplicaSet controller. A pure function computes the actions from a set, the
 * pods that it has or may adopt, and the time. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_REPLICA_SET_H
#define TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_REPLICA_SET_H

#include "base/json/json.h"

enum replica_action_type {
    REPLICA_ADOPT,   /* a pod without a controller that the selector matches */
    REPLICA_RELEASE, /* a pod of this set that the selector no longer matches */
    REPLICA_DELETE,
    REPLICA_CREATE,
    REPLICA_ACTION_TYPES,
};

struct replica_action {
    enum replica_action_type type;
    /* The existing pod; NULL for REPLICA_CREATE, because all new pods are equal. */
    const struct json *pod;
};

struct replica_observed {
    const struct json *set;
    /* The pods in the set's namespace that the set controls or that have no controller. */
    const struct json *const *pods;
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

struct replica_plan {
    struct replica_action *actions;
    size_t action_count;
    struct json *status; /* the new status if all actions succeed */
    int64_t requeue_ms;  /* reconcile again after this time; -1: when an object changes */
};

void replica_set_reconcile(struct arena *arena, const struct replica_observed *observed,
                           struct replica_plan *ret);

/* Returns a pod of the set, ready to be created. */
struct json *replica_set_pod(struct arena *arena, const struct json *set);

/* Writes into the status why pods could not be created or deleted. `reason` NULL: there was no
 * failure; removes the condition of an earlier failure. */
void replica_set_note_failure(struct arena *arena, struct json *status, const char *reason,
                              const char *message, int64_t now_ms);

#endif

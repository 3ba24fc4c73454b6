/* The decisions of the ReplicaSet controller. A pure function computes the actions from a set, the
 * pods that it has or may adopt, and the time. replica_set_controller.c calls it and carries out
 * the plan. */
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
    /* The new status. It counts the pods that the set has or adopts now. A pod that this
     * plan creates is not counted until an informer shows it. A pod that this plan deletes is
     * counted until an informer shows its deletion. */
    struct json *status;
    int64_t requeue_ms; /* reconcile again after this time; -1: when an object changes */
};

/* Fills in *ret. The plan is in the arena and refers to the observed objects. */
void replica_set_reconcile(struct arena *arena, const struct replica_observed *observed,
                           struct replica_plan *ret);

/* Returns a pod of the set, ready to be created. */
struct json *replica_set_pod(struct arena *arena, const struct json *set);

/* Writes into the status why pods could not be created or deleted. A condition of an earlier
 * failure stays unchanged. If `reason` is NULL, there was no failure, and the condition is removed.
 */
void replica_set_note_failure(struct arena *arena, struct json *status, const char *reason,
                              const char *message, int64_t now_ms);

#endif

/* The decisions of the Deployment controller. A pure function computes the actions from a
 * deployment, its replica sets, their pods and the time. One call takes at most one step of a
 * rollout. deployment/controller.c calls it and carries out the plan.
 *
 * A deployment has one ReplicaSet for its current pod template and one per earlier template. A
 * rollout changes the sizes of these sets. Old sets of size 0 beyond revisionHistoryLimit are
 * deleted. The new set has the current template; all others are old sets. In a rolling update the
 * new set grows while all sets together have at most replicas + maxSurge pods, and the old sets
 * shrink while at least replicas - maxUnavailable pods are available. With the strategy Recreate
 * the new set is created or enlarged when no pod of an old set runs any more. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_DEPLOYMENT_H
#define TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_DEPLOYMENT_H

#include "base/json/json.h"

/* Annotations of replica sets, and the label of sets and pods that keeps sets apart. The deployment
 * has the annotation DEPLOYMENT_REVISION of its new set. */
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
    const struct json *set;   /* the existing set, or the set to create */
    const struct json *patch; /* a merge patch for DEPLOYMENT_PATCH_SET */
    const char *event;        /* the message of the event after success; NULL: none */
};

struct deployment_observed {
    const struct json *deployment;
    /* The replica sets in the deployment's namespace that the deployment controls or that have no
     * controller. */
    const struct json *const *sets;
    size_t set_count;
    const struct json *const *pods; /* the pods of the sets that the deployment controls */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

struct deployment_plan {
    struct deployment_action *actions;
    size_t action_count, action_capacity;
    struct json *status;  /* the new status, computed as if all actions succeed; NULL: no change */
    const char *revision; /* DEPLOYMENT_REVISION to write on the deployment; NULL: no change */
    int64_t requeue_ms;   /* reconcile again after this time; -1: when an object changes */
};

/* Fills in *ret. The plan is in the arena and refers to the observed objects. */
void deployment_reconcile(struct arena *arena, const struct deployment_observed *observed,
                          struct deployment_plan *ret);

/* Writes into the status that the name of the new set is taken by another set. The next pass then
 * uses another hash. */
void deployment_note_collision(struct arena *arena, struct json *status);
/* Writes into the status why the new set could not be created. */
void deployment_note_failure(struct arena *arena, struct json *status, const char *message,
                             int64_t now_ms);

/* Returns whether both templates are equal. Ignores the label with the hash, and all metadata
 * except labels and annotations. */
bool deployment_same_template(const struct json *a, const struct json *b);

#endif

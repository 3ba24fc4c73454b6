/* The heart of the Deployment controller: from a deployment, its replica sets and the time, what
 * shall be done. A pure function; one pass takes at most one step of a rollout.
 *
 * Each template a deployment ever had is a ReplicaSet, and a rollout is a change of their sizes:
 * the new one's goes up while the sum stays within replicas + maxSurge, the old ones' down while
 * what is available stays at or above replicas - maxUnavailable. */
#ifndef TRAINYARD_ENGINE_DEPLOYMENT_H
#define TRAINYARD_ENGINE_DEPLOYMENT_H

#include "base/json/json.h"

#define DEPLOYMENT_REVISION   "deployment.kubernetes.io/revision"
#define DEPLOYMENT_HISTORY    "deployment.kubernetes.io/revision-history"
#define DEPLOYMENT_DESIRED    "deployment.kubernetes.io/desired-replicas"
#define DEPLOYMENT_MAX        "deployment.kubernetes.io/max-replicas"
#define DEPLOYMENT_HASH_LABEL "pod-template-hash"

/* What is done comes in this order. */
enum deployment_action_type {
    DEPLOYMENT_ADOPT,   /* a set that nobody controls and the selector matches */
    DEPLOYMENT_RELEASE, /* one of ours that it no longer matches */
    DEPLOYMENT_CREATE_SET,
    DEPLOYMENT_PATCH_SET,
    DEPLOYMENT_DELETE_SET,
    DEPLOYMENT_ACTION_TYPES,
};

struct deployment_action {
    enum deployment_action_type type;
    const struct json *set;   /* as it is, or the new one */
    const struct json *patch; /* a merge patch, of DEPLOYMENT_PATCH_SET */
    const char *event;        /* what is told when it is done; NULL: nothing */
};

struct deployment_observed {
    const struct json *deployment;
    const struct json *const *sets; /* those it controls, and those nobody does, of its namespace */
    size_t set_count;
    const struct json *const *pods; /* all that the sets control */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

struct deployment_plan {
    struct deployment_action *actions;
    size_t action_count, action_capacity;
    struct json *status;  /* as it is to be when all went well */
    const char *revision; /* to be written into its annotations; NULL: it is there */
    int64_t requeue_ms;   /* -1: when something changes */
};

void deployment_reconcile(struct arena *arena, const struct deployment_observed *observed,
                          struct deployment_plan *ret);

/* Why the new set could not be made, for the status: a name that is taken asks for another hash,
 * anything else is a failure to be told. */
void deployment_note_collision(struct arena *arena, struct json *status);
void deployment_note_failure(struct arena *arena, struct json *status, const char *message,
                             int64_t now_ms);

/* Equal but for the hash's label. */
bool deployment_same_template(const struct json *a, const struct json *b);

#endif

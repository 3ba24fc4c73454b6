/* One pass over one deployment (deployment.h), shared by the files that decide it. Only these files
 * include this header. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_INTERNAL_H
#define TRAINYARD_ENGINE_CONTROLLERS_DEPLOYMENT_INTERNAL_H

#include "engine/controllers/deployment/deployment.h"

/* The part of a replica set that decisions depend on. */
struct deployment_set {
    const struct json *json;
    const char *name, *uid;
    int64_t created_ms;
    int64_t revision;
    int64_t size;                    /* spec.replicas */
    int64_t wanted;                  /* the new size: `size` unless a step changed it */
    int64_t total, ready, available; /* from the set's status */
    /* The deployment's replicas, and replicas + maxSurge, when the set was last scaled; -1:
     * unknown. */
    int64_t desired_before, max_before;
    bool is_new; /* the set has the deployment's current template */
};

struct deployment_pass {
    struct arena *arena;
    const struct deployment_observed *observed;
    const struct json *deployment;
    int64_t now_ms;

    /* From the deployment's spec. */
    bool rolling, paused, deleting;
    int64_t replicas;
    int64_t max_surge, max_unavailable; /* absolute numbers */
    int64_t history;                    /* revisionHistoryLimit */
    int64_t deadline_s;                 /* -1: none */

    struct deployment_set *sets; /* sorted, the oldest first */
    size_t count;
    struct deployment_set *new_set; /* the set with the current template; NULL: not created yet */
    bool resized; /* the deployment was scaled: a set's desired-replicas differs from `replicas` */

    struct deployment_plan *plan;
};

/* ---- view.c */

/* Reads the deployment and its sets. Plans DEPLOYMENT_ADOPT and DEPLOYMENT_RELEASE. */
void deployment_pass_read(struct deployment_pass *pass);

/* ---- size.c */

/* The next three functions set `wanted` of sets, and return true if the size of any set changes. */

/* Takes one step of a rolling update. The new set must exist. */
bool deployment_size_rolling(struct deployment_pass *pass);
/* Shrinks all old sets to 0. */
bool deployment_size_recreate(struct deployment_pass *pass);
/* Adapts the sizes to a new number of replicas, also while the deployment is paused. */
bool deployment_size_scale(struct deployment_pass *pass);
/* Returns the size that the new set may get now. `size` is its present size; 0 if it does not
 * exist. */
int64_t deployment_size_new(const struct deployment_pass *pass, int64_t size);

/* ---- sets.c */

/* Plans the creation of the new set. Sets the revision of the plan. */
void deployment_plan_new_set(struct deployment_pass *pass);
/* Plans a patch for each set whose size or size annotations change. */
void deployment_plan_resize(struct deployment_pass *pass);
/* Returns true if the annotations, the revision and minReadySeconds of the new set are up to date,
 * and then sets the revision of the plan if the deployment shows another one. Otherwise plans a
 * patch of the set. */
bool deployment_plan_annotate(struct deployment_pass *pass);
/* Plans the deletion of old sets of size 0 beyond revisionHistoryLimit. */
void deployment_plan_forget(struct deployment_pass *pass);
void deployment_plan_add(struct deployment_pass *pass, struct deployment_action action);

/* ---- status.c */

/* Writes the pod counts and the condition Available into `status`. */
void deployment_status(struct deployment_pass *pass, struct json *status);
/* Writes the conditions Progressing and ReplicaFailure into `status`. Plans a pass at the progress
 * deadline. */
void deployment_status_progress(struct deployment_pass *pass, struct json *status);
/* Returns whether `status` shows that the rollout is complete. */
bool deployment_is_complete(const struct deployment_pass *pass, const struct json *status);
/* The next three functions write the condition Progressing: the deployment was paused or resumed,
 * has a new set, or creates its new set. */
void deployment_note_paused(struct deployment_pass *pass, struct json *status);
void deployment_note_found(struct deployment_pass *pass, struct json *status);
void deployment_note_created(struct deployment_pass *pass, struct json *status, const char *name);

#endif

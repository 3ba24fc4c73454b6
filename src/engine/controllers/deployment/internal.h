/* One pass over one deployment, shared by the files of the Deployment reconcile. */
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
    int64_t history;
    int64_t deadline_s; /* -1: none */

    struct deployment_set *sets; /* sorted, the oldest first */
    size_t count;
    struct deployment_set *newest; /* the set with the current template; NULL: not created yet */
    bool resized; /* the deployment was scaled: a set's desired-replicas differs from `replicas` */

    struct deployment_plan *plan;
};

/* view.c: reads the deployment and its sets. */
void deployment_pass_read(struct deployment_pass *pass);

/* size.c: these functions set `wanted` of all sets. They return true if a size changes. */
bool deployment_size_rolling(struct deployment_pass *pass);
bool deployment_size_recreate(struct deployment_pass *pass);
bool deployment_size_scale(struct deployment_pass *pass);
/* Returns the size that the new set may have, given that it has `size` pods now. */
int64_t deployment_size_new(const struct deployment_pass *pass, int64_t size);

/* sets.c: plans the creation, change and deletion of sets. */
void deployment_plan_new_set(struct deployment_pass *pass);
void deployment_plan_resize(struct deployment_pass *pass);
/* Plans a patch if annotations, revision or minReadySeconds of the new set are not up to date.
 * Returns true if they are. */
bool deployment_plan_annotate(struct deployment_pass *pass);
void deployment_plan_forget(struct deployment_pass *pass);
void deployment_plan_add(struct deployment_pass *pass, struct deployment_action action);

/* status.c: writes the pod counts and the condition Available into `status`. */
void deployment_status(struct deployment_pass *pass, struct json *status);
void deployment_status_progress(struct deployment_pass *pass, struct json *status);
bool deployment_is_complete(const struct deployment_pass *pass, const struct json *status);
void deployment_note_paused(struct deployment_pass *pass, struct json *status);
void deployment_note_found(struct deployment_pass *pass, struct json *status);
void deployment_note_created(struct deployment_pass *pass, struct json *status, const char *name);

#endif

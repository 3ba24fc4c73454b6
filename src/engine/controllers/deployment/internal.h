/* What the files of the Deployment reconcile share: one pass over one deployment. */
#ifndef TRAINYARD_ENGINE_DEPLOYMENT_INTERNAL_H
#define TRAINYARD_ENGINE_DEPLOYMENT_INTERNAL_H

#include "engine/controllers/deployment/deployment.h"

/* A replica set as far as it counts. */
struct deployment_set {
    const struct json *json;
    const char *name, *uid;
    int64_t created_ms;
    int64_t revision;
    int64_t size;                    /* spec.replicas */
    int64_t wanted;                  /* what it shall be: `size` unless a step changed it */
    int64_t total, ready, available; /* status */
    /* When it was last scaled: the deployment's replicas, and these with the surge; -1: unknown. */
    int64_t desired_before, max_before;
    bool is_new; /* of the present template */
};

struct deployment_pass {
    struct arena *arena;
    const struct deployment_observed *observed;
    const struct json *deployment;
    int64_t now_ms;

    /* What it asks for. */
    bool rolling, paused, deleting;
    int64_t replicas;
    int64_t max_surge, max_unavailable; /* resolved */
    int64_t history;
    int64_t deadline_s; /* -1: none */

    struct deployment_set *sets; /* the oldest first */
    size_t count;
    struct deployment_set *newest; /* of the present template; NULL: not made yet */
    bool resized;                  /* desired-replicas of a set is another number than ours */

    struct deployment_plan *plan;
};

/* deployment_view.c: reading. */
void deployment_pass_read(struct deployment_pass *pass);

/* deployment_size.c: how large each set shall be: `wanted` of all. True if any is to change. */
bool deployment_size_rolling(struct deployment_pass *pass);
bool deployment_size_recreate(struct deployment_pass *pass);
bool deployment_size_scale(struct deployment_pass *pass);
int64_t deployment_size_new(const struct deployment_pass *pass, int64_t size);

/* deployment_sets.c: sets made, changed and forgotten. */
void deployment_plan_new_set(struct deployment_pass *pass);
void deployment_plan_resize(struct deployment_pass *pass);
/* Its annotations follow the deployment's; false if they do not yet. */
bool deployment_plan_annotate(struct deployment_pass *pass);
void deployment_plan_forget(struct deployment_pass *pass);
void deployment_plan_add(struct deployment_pass *pass, struct deployment_action action);

/* deployment_status.c */
/* The numbers and whether enough is available, written into `status`. */
void deployment_status(struct deployment_pass *pass, struct json *status);
void deployment_status_progress(struct deployment_pass *pass, struct json *status);
bool deployment_is_complete(const struct deployment_pass *pass, const struct json *status);
void deployment_note_paused(struct deployment_pass *pass, struct json *status);
void deployment_note_found(struct deployment_pass *pass, struct json *status);
void deployment_note_created(struct deployment_pass *pass, struct json *status, const char *name);

#endif

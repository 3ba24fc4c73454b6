/* The heart of the ReplicaSet controller: from a set, the pods it has or may take, and the time,
 * what shall be done. A pure function. */
#ifndef TRAINYARD_ENGINE_REPLICA_SET_H
#define TRAINYARD_ENGINE_REPLICA_SET_H

#include "base/json/json.h"

enum replica_action_type {
    REPLICA_ADOPT,   /* a pod that nobody controls and the selector matches */
    REPLICA_RELEASE, /* one of ours that it no longer matches */
    REPLICA_DELETE,
    REPLICA_CREATE,
    REPLICA_ACTION_TYPES,
};

struct replica_action {
    enum replica_action_type type;
    const struct json *pod; /* as it is; of REPLICA_CREATE NULL: all are made alike */
};

struct replica_observed {
    const struct json *set;
    const struct json *const *pods; /* those it controls, and those nobody does, of its namespace */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

struct replica_plan {
    struct replica_action *actions;
    size_t action_count;
    struct json *status; /* as it is to be when all went well */
    int64_t requeue_ms;  /* -1: when something changes */
};

void replica_set_reconcile(struct arena *arena, const struct replica_observed *observed,
                           struct replica_plan *ret);

/* A pod of the set, ready to be created. */
struct json *replica_set_pod(struct arena *arena, const struct json *set);

/* Write down in a status why pods could not be made or deleted; NULL: they could. */
void replica_set_note_failure(struct arena *arena, struct json *status, const char *reason,
                              const char *message, int64_t now_ms);

#endif

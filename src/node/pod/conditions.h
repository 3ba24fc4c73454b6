/* The conditions in a pod's status, with the kubelet's reasons and messages. */
#ifndef TRAINYARD_NODE_POD_CONDITIONS_H
#define TRAINYARD_NODE_POD_CONDITIONS_H

#include "base/json/json.h"

#include <stdint.h>

/* Facts about the containers that pod/status.c collects. */
struct pod_health {
    const char *phase;
    bool has_sandbox; /* the pod's network exists, so containers can start */
    bool initialized;
    const char *evicted; /* the message of the eviction, or NULL */
    const char *incomplete,
        *unready; /* the names of containers, separated by blanks; NULL if there are none */
};

void pod_health_add_name(struct arena *arena, const char **names, const char *name);

/* Returns all conditions. Keeps the conditions that other controllers own. Keeps the
 * lastTransitionTime of a condition whose status has not changed. */
struct json *pod_conditions_make(struct arena *arena, const struct json *pod,
                                 const struct pod_health *health, int64_t now_ms);

#endif

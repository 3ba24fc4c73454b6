/* The conditions in a pod's status, with the kubelet's reasons and messages. */
#ifndef TRAINYARD_NODE_POD_CONDITIONS_H
#define TRAINYARD_NODE_POD_CONDITIONS_H

#include "base/json/json.h"

#include <stdint.h>

/* Facts about a pod and its containers, collected by pod/status.c. */
struct pod_health {
    const char *phase;
    bool has_sandbox;    /* the pod has an address and a state, and is not finished */
    bool initialized;    /* all init containers are complete, or a main container has run */
    const char *evicted; /* the message of the eviction, or NULL */
    const char *incomplete, *unready; /* init containers that are not complete, and containers that
                                         are not ready: names separated by blanks, or NULL */
};

void pod_health_add_name(struct arena *arena, const char **names, const char *name);

/* Returns all conditions. Keeps the conditions that other controllers own. Keeps the
 * lastTransitionTime of a condition whose status has not changed. */
struct json *pod_conditions_make(struct arena *arena, const struct json *pod,
                                 const struct pod_health *health, int64_t now_ms);

#endif

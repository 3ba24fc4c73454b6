/* Builds the conditions in a pod's status, with the kubelet's reasons and messages, for
 * pod/status.c. Pure. */
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
    /* Names of the init containers that are not complete, separated by blanks; or NULL. */
    const char *incomplete;
    /* Names of the containers and sidecars that are not ready, separated by blanks; or NULL. */
    const char *unready;
};

/* Appends a name to `incomplete` or `unready`. */
void pod_health_add_name(struct arena *arena, const char **names, const char *name);

/* Returns the new list of conditions. It contains the conditions of other controllers unchanged. A
 * condition whose status has not changed keeps its lastTransitionTime. */
struct json *pod_conditions_make(struct arena *arena, const struct json *pod,
                                 const struct pod_health *health, int64_t now_ms);

#endif

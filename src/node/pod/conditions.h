/* The conditions in a pod's status, with the kubelet's reasons and messages. */
#ifndef TRAINYARD_NODE_POD_CONDITIONS_H
#define TRAINYARD_NODE_POD_CONDITIONS_H

#include "base/json/json.h"

#include <stdint.h>

/* What pod/status.c found out about the containers. */
struct pod_health {
    const char *phase;
    bool has_sandbox; /* its network stands, containers can start */
    bool initialized;
    const char *evicted;              /* why, or NULL */
    const char *incomplete, *unready; /* names of containers with a blank between; NULL: none */
};

void pod_health_add_name(struct arena *arena, const char **names, const char *name);

/* All of them; those that are nobody's here are kept, and the time of the last transition stays
 * while a status does. */
struct json *pod_conditions_make(struct arena *arena, const struct json *pod,
                                 const struct pod_health *health, int64_t now_ms);

#endif

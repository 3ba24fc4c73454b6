/* Which resource: the names under which the API knows a kind. */
#ifndef TRAINYARD_KUBE_RESOURCE_H
#define TRAINYARD_KUBE_RESOURCE_H

#include <stdbool.h>

struct kube_resource {
    const char *group;   /* "" for the core group */
    const char *version; /* "v1" */
    const char *plural;  /* "tfjobs" */
    const char *kind;    /* "TFJob" */
    bool namespaced;
};

extern const struct kube_resource KUBE_NAMESPACES, KUBE_NODES, KUBE_PODS, KUBE_SERVICES,
    KUBE_CONFIGMAPS, KUBE_SECRETS, KUBE_PVCS, KUBE_PVS, KUBE_EVENTS, KUBE_ENDPOINTS, KUBE_TFJOBS;

#endif

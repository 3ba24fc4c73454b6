/* The names of a resource in the API, and the texts that are made from them. */
#ifndef TRAINYARD_KUBE_RESOURCE_H
#define TRAINYARD_KUBE_RESOURCE_H

#include "base/arena.h"

#include <stdbool.h>

struct kube_resource {
    const char *group;   /* "" for the core group */
    const char *version; /* "v1" */
    const char *plural;  /* "tfjobs" */
    const char *kind;    /* "TFJob" */
    bool namespaced;
};

/* The resources of the built-in kinds. kube/kinds/ defines each together with its kind. */
extern const struct kube_resource KUBE_NAMESPACES, KUBE_NODES, KUBE_PODS, KUBE_SERVICES,
    KUBE_CONFIGMAPS, KUBE_SECRETS, KUBE_PVCS, KUBE_PVS, KUBE_EVENTS, KUBE_ENDPOINTS, KUBE_JOBS,
    KUBE_SERVICEACCOUNTS, KUBE_ROLES, KUBE_ROLEBINDINGS, KUBE_CLUSTERROLES,
    KUBE_CLUSTERROLEBINDINGS, KUBE_PODGROUPS, KUBE_VOLCANO_PODGROUPS, KUBE_LEASES,
    KUBE_NODE_METRICS, KUBE_POD_METRICS, KUBE_DEPLOYMENTS, KUBE_REPLICASETS, KUBE_ENDPOINTSLICES,
    KUBE_STORAGECLASSES, KUBE_PRIORITYCLASSES, KUBE_LIMITRANGES, KUBE_RESOURCEQUOTAS,
    KUBE_SELFSUBJECTREVIEWS, KUBE_SELFSUBJECTACCESSREVIEWS, KUBE_SELFSUBJECTRULESREVIEWS;

/* Returns the apiVersion of the resource's objects: "v1", "kubeflow.org/v1". */
char *kube_resource_api_version(struct arena *arena, const struct kube_resource *resource);

/* Returns the path "/api/v1/namespaces/NS/pods/NAME/SUB". The parts are not percent-encoded.
 * namespace_ NULL or "": all namespaces; name NULL: the collection; subresource NULL: none. */
char *kube_resource_path(struct arena *arena, const struct kube_resource *resource,
                         const char *namespace_, const char *name, const char *subresource);

/* Returns the name of the resource in error messages: "pods", "tfjobs.kubeflow.org". */
char *kube_resource_text(struct arena *arena, const struct kube_resource *resource);

#endif

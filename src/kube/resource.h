/* Which resource: the names under which the API knows a kind. */
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

/* The resources of the kinds built in; kube/kinds/ defines each with its kind. */
extern const struct kube_resource KUBE_NAMESPACES, KUBE_NODES, KUBE_PODS, KUBE_SERVICES,
    KUBE_CONFIGMAPS, KUBE_SECRETS, KUBE_PVCS, KUBE_PVS, KUBE_EVENTS, KUBE_ENDPOINTS, KUBE_JOBS,
    KUBE_SERVICEACCOUNTS, KUBE_ROLES, KUBE_ROLEBINDINGS, KUBE_CLUSTERROLES,
    KUBE_CLUSTERROLEBINDINGS, KUBE_PODGROUPS, KUBE_VOLCANO_PODGROUPS, KUBE_LEASES,
    KUBE_NODE_METRICS, KUBE_POD_METRICS, KUBE_DEPLOYMENTS, KUBE_REPLICASETS, KUBE_ENDPOINTSLICES,
    KUBE_STORAGECLASSES, KUBE_PRIORITYCLASSES, KUBE_LIMITRANGES, KUBE_RESOURCEQUOTAS,
    KUBE_SELFSUBJECTREVIEWS, KUBE_SELFSUBJECTACCESSREVIEWS, KUBE_SELFSUBJECTRULESREVIEWS;

/* "v1", "kubeflow.org/v1": the apiVersion of its objects. */
char *kube_resource_api_version(struct arena *arena, const struct kube_resource *resource);

/* "/api/v1/namespaces/NS/pods/NAME/SUB", each piece as it is (not percent-encoded). namespace_ NULL
 * or "": across namespaces; name NULL: the collection; subresource NULL: none. */
char *kube_resource_path(struct arena *arena, const struct kube_resource *resource,
                         const char *namespace_, const char *name, const char *subresource);

/* "pods", "tfjobs.kubeflow.org": as errors name it. */
char *kube_resource_text(struct arena *arena, const struct kube_resource *resource);

#endif

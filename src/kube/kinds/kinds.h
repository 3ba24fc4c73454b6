/* The built-in kinds: those of Kubernetes, and PodGroups. One file per subject. row.h explains how
 * to write a row. A new kind needs a file, a declaration of its row here and of its resource in
 * kube/resource.h, and a line in kinds.c. */
#ifndef TRAINYARD_KUBE_KINDS_KINDS_H
#define TRAINYARD_KUBE_KINDS_KINDS_H

#include "kube/kinds/kind.h"

extern const struct kube_kind KUBE_CONFIGMAP_KIND, KUBE_ENDPOINTS_KIND, KUBE_EVENT_KIND,
    KUBE_LIMITRANGE_KIND, KUBE_NAMESPACE_KIND, KUBE_NODE_KIND, KUBE_PVC_KIND, KUBE_PV_KIND,
    KUBE_POD_KIND, KUBE_RESOURCEQUOTA_KIND, KUBE_SECRET_KIND, KUBE_SERVICEACCOUNT_KIND,
    KUBE_SERVICE_KIND, KUBE_DEPLOYMENT_KIND, KUBE_REPLICASET_KIND, KUBE_SELFSUBJECTREVIEW_KIND,
    KUBE_SELFSUBJECTACCESSREVIEW_KIND, KUBE_SELFSUBJECTRULESREVIEW_KIND, KUBE_JOB_KIND,
    KUBE_LEASE_KIND, KUBE_ENDPOINTSLICE_KIND, KUBE_NODE_METRICS_KIND, KUBE_POD_METRICS_KIND,
    KUBE_CLUSTERROLEBINDING_KIND, KUBE_CLUSTERROLE_KIND, KUBE_ROLEBINDING_KIND, KUBE_ROLE_KIND,
    KUBE_PRIORITYCLASS_KIND, KUBE_PODGROUP_KIND, KUBE_VOLCANO_PODGROUP_KIND, KUBE_STORAGECLASS_KIND;

/* Returns the kind at `position`, counted from 0, in the order of discovery; NULL after the last
 * kind. */
const struct kube_kind *kube_kind_at(size_t position);
/* Returns the row of this apiVersion and kind; NULL if it is not built in or its objects are never
 * stored. */
const struct kube_kind *kube_kind_find(const char *api_version, const char *kind);
/* Returns the type of objects with this apiVersion and kind, including objects that are only sent,
 * such as DeleteOptions; NULL if it is not built in. Has the signature schema_find_type; `context`
 * is not used. */
const struct schema_object *kube_kind_find_type(const void *context, const char *api_version,
                                                const char *kind);

#endif

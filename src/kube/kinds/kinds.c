/* The list of the built-in kinds; see kinds.h. */
#include "kube/kinds/kinds.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/types/types.h"

/* In alphabetical order of group and resource, which is the order of discovery. One exception: the
 * PodGroup of the scheduler-plugins comes before Volcano's, so that "podgroup" in kubectl means the
 * PodGroup that this program's scheduler reads. */
static const struct kube_kind *const KINDS[] = {
    &KUBE_CONFIGMAP_KIND,
    &KUBE_ENDPOINTS_KIND,
    &KUBE_EVENT_KIND,
    &KUBE_LIMITRANGE_KIND,
    &KUBE_NAMESPACE_KIND,
    &KUBE_NODE_KIND,
    &KUBE_PVC_KIND,
    &KUBE_PV_KIND,
    &KUBE_POD_KIND,
    &KUBE_RESOURCEQUOTA_KIND,
    &KUBE_SECRET_KIND,
    &KUBE_SERVICEACCOUNT_KIND,
    &KUBE_SERVICE_KIND,
    &KUBE_DEPLOYMENT_KIND,
    &KUBE_REPLICASET_KIND,
    &KUBE_SELFSUBJECTREVIEW_KIND,
    &KUBE_SELFSUBJECTACCESSREVIEW_KIND,
    &KUBE_SELFSUBJECTRULESREVIEW_KIND,
    &KUBE_JOB_KIND,
    &KUBE_LEASE_KIND,
    &KUBE_ENDPOINTSLICE_KIND,
    &KUBE_NODE_METRICS_KIND,
    &KUBE_POD_METRICS_KIND,
    &KUBE_CLUSTERROLEBINDING_KIND,
    &KUBE_CLUSTERROLE_KIND,
    &KUBE_ROLEBINDING_KIND,
    &KUBE_ROLE_KIND,
    &KUBE_PRIORITYCLASS_KIND,
    &KUBE_PODGROUP_KIND,
    &KUBE_VOLCANO_PODGROUP_KIND,
    &KUBE_STORAGECLASS_KIND,
};

const struct kube_kind *kube_kind_at(size_t position)
{
    return position < ARRAY_SIZE(KINDS) ? KINDS[position] : NULL;
}

const struct kube_kind *kube_kind_find(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (!KINDS[i]->transient && str_eq(KINDS[i]->api_version, api_version) &&
            str_eq(KINDS[i]->id.kind, kind))
            return KINDS[i];
    return NULL;
}

const struct schema_object *kube_kind_find_type(const void *context, const char *api_version,
                                                const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (str_eq(KINDS[i]->api_version, api_version) && str_eq(KINDS[i]->id.kind, kind))
            return KINDS[i]->schema;
    return types_find_message(api_version, kind);
}

/* The list of kinds; see types.h. */
#include "kube/types/types.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

const struct schema TYPE_ANYTHING = {.type = SCHEMA_ANY}, TYPE_BYTES = {.type = SCHEMA_BYTES},
                    TYPE_INT32 = {.type = SCHEMA_INT32}, TYPE_INT64 = {.type = SCHEMA_INT64},
                    TYPE_QUANTITY = {.type = SCHEMA_QUANTITY}, TYPE_TEXT = {.type = SCHEMA_STRING},
                    TYPE_TEXT_LIST = {.type = SCHEMA_LIST, .items = &TYPE_TEXT};

static const struct type_kind KINDS[] = {
    {"", "v1", "Binding", &TYPE_BINDING},
    {"", "v1", "ConfigMap", &TYPE_CONFIG_MAP},
    {"", "v1", "DeleteOptions", &TYPE_DELETE_OPTIONS},
    {"", "v1", "Endpoints", &TYPE_ENDPOINTS},
    {"", "v1", "Event", &TYPE_EVENT},
    {"", "v1", "LimitRange", &TYPE_LIMIT_RANGE},
    {"", "v1", "Namespace", &TYPE_NAMESPACE},
    {"", "v1", "Node", &TYPE_NODE},
    {"", "v1", "PersistentVolume", &TYPE_PERSISTENT_VOLUME},
    {"", "v1", "PersistentVolumeClaim", &TYPE_PERSISTENT_VOLUME_CLAIM},
    {"", "v1", "Pod", &TYPE_POD},
    {"", "v1", "ResourceQuota", &TYPE_RESOURCE_QUOTA},
    {"", "v1", "Secret", &TYPE_SECRET},
    {"", "v1", "Service", &TYPE_SERVICE},
    {"", "v1", "ServiceAccount", &TYPE_SERVICE_ACCOUNT},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", &TYPE_CUSTOM_RESOURCE_DEFINITION},
    {"apps", "v1", "Deployment", &TYPE_DEPLOYMENT},
    {"apps", "v1", "ReplicaSet", &TYPE_REPLICA_SET},
    {"argoproj.io", "v1alpha1", "Workflow", &TYPE_WORKFLOW},
    {"authentication.k8s.io", "v1", "SelfSubjectReview", &TYPE_SELF_SUBJECT_REVIEW},
    {"authentication.k8s.io", "v1", "TokenRequest", &TYPE_TOKEN_REQUEST},
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", &TYPE_SELF_SUBJECT_ACCESS_REVIEW},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", &TYPE_SELF_SUBJECT_RULES_REVIEW},
    {"autoscaling", "v1", "Scale", &TYPE_SCALE},
    {"batch", "v1", "Job", &TYPE_JOB},
    {"coordination.k8s.io", "v1", "Lease", &TYPE_LEASE},
    {"discovery.k8s.io", "v1", "EndpointSlice", &TYPE_ENDPOINT_SLICE},
    {"kubeflow.org", "v1", "PyTorchJob", &TYPE_PYTORCHJOB},
    {"kubeflow.org", "v1", "TFJob", &TYPE_TFJOB},
    {"meta.k8s.io", "v1", "DeleteOptions", &TYPE_DELETE_OPTIONS},
    {"metrics.k8s.io", "v1beta1", "NodeMetrics", &TYPE_NODE_METRICS},
    {"metrics.k8s.io", "v1beta1", "PodMetrics", &TYPE_POD_METRICS},
    {"policy", "v1", "Eviction", &TYPE_EVICTION},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole", &TYPE_CLUSTER_ROLE},
    {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", &TYPE_CLUSTER_ROLE_BINDING},
    {"rbac.authorization.k8s.io", "v1", "Role", &TYPE_ROLE},
    {"rbac.authorization.k8s.io", "v1", "RoleBinding", &TYPE_ROLE_BINDING},
    {"scheduling.k8s.io", "v1", "PriorityClass", &TYPE_PRIORITY_CLASS},
    {"scheduling.volcano.sh", "v1beta1", "PodGroup", &TYPE_VOLCANO_POD_GROUP},
    {"scheduling.x-k8s.io", "v1alpha1", "PodGroup", &TYPE_POD_GROUP},
    {"storage.k8s.io", "v1", "StorageClass", &TYPE_STORAGE_CLASS},
};

const struct type_kind *type_kind_at(size_t position)
{
    return position < ARRAY_SIZE(KINDS) ? &KINDS[position] : NULL;
}

static const struct schema_object *find(const char *group, size_t group_size, const char *version,
                                        const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++) {
        const struct type_kind *known = &KINDS[i];
        if (str_eq(known->kind, kind) && str_eq(known->version, version) &&
            strlen(known->group) == group_size && memcmp(known->group, group, group_size) == 0)
            return known->object;
    }
    return NULL;
}

const struct schema_object *type_of_kind(const char *group, const char *version, const char *kind)
{
    return find(group, strlen(group), version, kind);
}

const struct schema_object *type_of_api_version(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    return slash ? find(api_version, (size_t)(slash - api_version), slash + 1, kind)
                 : find("", 0, api_version, kind);
}

/* The resources this program knows by name and the paths under which the API serves them; see
 * resource.h. */
#include "kube/resource.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

#define CORE(plural_, kind_, namespaced_)                                                          \
    {                                                                                              \
        .group = "", .version = "v1", .plural = (plural_), .kind = (kind_),                        \
        .namespaced = (namespaced_)                                                                \
    }

const struct kube_resource KUBE_NAMESPACES = CORE("namespaces", "Namespace", false);
const struct kube_resource KUBE_NODES = CORE("nodes", "Node", false);
const struct kube_resource KUBE_PODS = CORE("pods", "Pod", true);
const struct kube_resource KUBE_SERVICES = CORE("services", "Service", true);
const struct kube_resource KUBE_CONFIGMAPS = CORE("configmaps", "ConfigMap", true);
const struct kube_resource KUBE_SECRETS = CORE("secrets", "Secret", true);
const struct kube_resource KUBE_PVCS =
    CORE("persistentvolumeclaims", "PersistentVolumeClaim", true);
const struct kube_resource KUBE_PVS = CORE("persistentvolumes", "PersistentVolume", false);
const struct kube_resource KUBE_LIMITRANGES = CORE("limitranges", "LimitRange", true);
const struct kube_resource KUBE_RESOURCEQUOTAS = CORE("resourcequotas", "ResourceQuota", true);
const struct kube_resource KUBE_EVENTS = CORE("events", "Event", true);
const struct kube_resource KUBE_ENDPOINTS = CORE("endpoints", "Endpoints", true);
const struct kube_resource KUBE_JOBS = {
    .group = "batch",
    .version = "v1",
    .plural = "jobs",
    .kind = "Job",
    .namespaced = true,
};
const struct kube_resource KUBE_TFJOBS = {
    .group = "kubeflow.org",
    .version = "v1",
    .plural = "tfjobs",
    .kind = "TFJob",
    .namespaced = true,
};

const struct kube_resource KUBE_PYTORCHJOBS = {
    .group = "kubeflow.org",
    .version = "v1",
    .plural = "pytorchjobs",
    .kind = "PyTorchJob",
    .namespaced = true,
};

/* Of the scheduler-plugins, and of Volcano: one name, two groups. */
const struct kube_resource KUBE_PODGROUPS = {
    .group = "scheduling.x-k8s.io",
    .version = "v1alpha1",
    .plural = "podgroups",
    .kind = "PodGroup",
    .namespaced = true,
};
const struct kube_resource KUBE_VOLCANO_PODGROUPS = {
    .group = "scheduling.volcano.sh",
    .version = "v1beta1",
    .plural = "podgroups",
    .kind = "PodGroup",
    .namespaced = true,
};

const struct kube_resource KUBE_LEASES = {
    .group = "coordination.k8s.io",
    .version = "v1",
    .plural = "leases",
    .kind = "Lease",
    .namespaced = true,
};

/* Not a resource of its own: what is below those that can be scaled. */
const struct kube_resource KUBE_SCALES = {
    .group = "autoscaling",
    .version = "v1",
    .plural = "scales",
    .kind = "Scale",
    .namespaced = true,
};

/* Measured, not stored. */
const struct kube_resource KUBE_NODE_METRICS = {
    .group = "metrics.k8s.io",
    .version = "v1beta1",
    .plural = "nodes",
    .kind = "NodeMetrics",
};

const struct kube_resource KUBE_POD_METRICS = {
    .group = "metrics.k8s.io",
    .version = "v1beta1",
    .plural = "pods",
    .kind = "PodMetrics",
    .namespaced = true,
};

const struct kube_resource KUBE_DEFINITIONS = {
    .group = "apiextensions.k8s.io",
    .version = "v1",
    .plural = "customresourcedefinitions",
    .kind = "CustomResourceDefinition",
};
const struct kube_resource KUBE_WORKFLOWS = {
    .group = "argoproj.io",
    .version = "v1alpha1",
    .plural = "workflows",
    .kind = "Workflow",
    .namespaced = true,
};

const struct kube_resource KUBE_DEPLOYMENTS = {
    .group = "apps",
    .version = "v1",
    .plural = "deployments",
    .kind = "Deployment",
    .namespaced = true,
};
const struct kube_resource KUBE_REPLICASETS = {
    .group = "apps",
    .version = "v1",
    .plural = "replicasets",
    .kind = "ReplicaSet",
    .namespaced = true,
};
const struct kube_resource KUBE_ENDPOINTSLICES = {
    .group = "discovery.k8s.io",
    .version = "v1",
    .plural = "endpointslices",
    .kind = "EndpointSlice",
    .namespaced = true,
};
const struct kube_resource KUBE_STORAGECLASSES = {
    .group = "storage.k8s.io",
    .version = "v1",
    .plural = "storageclasses",
    .kind = "StorageClass",
};
const struct kube_resource KUBE_PRIORITYCLASSES = {
    .group = "scheduling.k8s.io",
    .version = "v1",
    .plural = "priorityclasses",
    .kind = "PriorityClass",
};

const struct kube_resource KUBE_SERVICEACCOUNTS = CORE("serviceaccounts", "ServiceAccount", true);

#define RBAC(plural_, kind_, namespaced_)                                                          \
    {                                                                                              \
        .group = "rbac.authorization.k8s.io", .version = "v1", .plural = (plural_),                \
        .kind = (kind_), .namespaced = (namespaced_)                                               \
    }

const struct kube_resource KUBE_ROLES = RBAC("roles", "Role", true);
const struct kube_resource KUBE_ROLEBINDINGS = RBAC("rolebindings", "RoleBinding", true);
const struct kube_resource KUBE_CLUSTERROLES = RBAC("clusterroles", "ClusterRole", false);
const struct kube_resource KUBE_CLUSTERROLEBINDINGS =
    RBAC("clusterrolebindings", "ClusterRoleBinding", false);

static const struct kube_resource *const KNOWN[] = {
    &KUBE_SERVICEACCOUNTS,
    &KUBE_ROLES,
    &KUBE_ROLEBINDINGS,
    &KUBE_CLUSTERROLES,
    &KUBE_CLUSTERROLEBINDINGS,
    &KUBE_NAMESPACES,
    &KUBE_NODES,
    &KUBE_PODS,
    &KUBE_SERVICES,
    &KUBE_CONFIGMAPS,
    &KUBE_SECRETS,
    &KUBE_PVCS,
    &KUBE_PVS,
    &KUBE_LIMITRANGES,
    &KUBE_RESOURCEQUOTAS,
    &KUBE_EVENTS,
    &KUBE_ENDPOINTS,
    &KUBE_JOBS,
    &KUBE_TFJOBS,
    &KUBE_PYTORCHJOBS,
    &KUBE_PODGROUPS,
    &KUBE_VOLCANO_PODGROUPS,
    &KUBE_LEASES,
    &KUBE_DEFINITIONS,
    &KUBE_DEPLOYMENTS,
    &KUBE_REPLICASETS,
    &KUBE_ENDPOINTSLICES,
    &KUBE_STORAGECLASSES,
    &KUBE_PRIORITYCLASSES,
    &KUBE_WORKFLOWS,
};

char *kube_resource_api_version(struct arena *arena, const struct kube_resource *resource)
{
    if (*resource->group == '\0')
        return arena_strdup(arena, resource->version);
    return arena_printf(arena, "%s/%s", resource->group, resource->version);
}

char *kube_resource_path(struct arena *arena, const struct kube_resource *resource,
                         const char *namespace_, const char *name, const char *subresource)
{
    bool core = *resource->group == '\0';
    bool inside = resource->namespaced && !str_is_empty(namespace_);
    return arena_printf(arena, "/%s%s/%s%s%s/%s%s%s%s%s", core ? "api" : "apis/", resource->group,
                        resource->version, inside ? "/namespaces/" : "", inside ? namespace_ : "",
                        resource->plural, name ? "/" : "", name ? name : "",
                        name && subresource ? "/" : "", name && subresource ? subresource : "");
}

char *kube_resource_text(struct arena *arena, const struct kube_resource *resource)
{
    return arena_printf(arena, "%s%s%s", resource->plural, *resource->group ? "." : "",
                        resource->group);
}

const struct kube_resource *kube_resource_find(const char *api_version, const char *kind)
{
    if (!api_version || !kind)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(KNOWN); i++) {
        const struct kube_resource *known = KNOWN[i];
        size_t group = strlen(known->group);
        const char *version = api_version;
        if (group) {
            if (strncmp(api_version, known->group, group) != 0 || api_version[group] != '/')
                continue;
            version += group + 1;
        }
        if (str_eq(version, known->version) && str_eq(kind, known->kind))
            return known;
    }
    return NULL;
}

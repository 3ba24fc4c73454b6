/* The table of the kinds built in; see registry.h. */
#include "engine/kinds/registry.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/admission/admission.h"
#include "engine/api/handlers.h"
#include "engine/crd/definition.h"
#include "engine/kinds/kinds.h"
#include "kube/types/types.h"

enum {
    VERBS_ALL = VERB_CREATE | VERB_DELETE | VERB_DELETE_COLLECTION | VERB_GET | VERB_LIST |
                VERB_PATCH | VERB_UPDATE | VERB_WATCH,
    VERBS_STATUS = VERB_GET | VERB_PATCH | VERB_UPDATE,
};

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const ALL[] = {"all", NULL};

/* The status subresource of a kind, alone. */
#define STATUS_OF(kind_)                                                                           \
    ((const struct registry_subresource[]){                                                        \
        {.id = SUB_STATUS, .name = "status", .kind = (kind_), .verbs = VERBS_STATUS},              \
        {.id = SUB_NONE},                                                                          \
    })

/* A proxy passes every method on. */
#define PROXY_OF(kind_)                                                                            \
    {                                                                                              \
        .id = SUB_PROXY, .name = "proxy", .kind = (kind_),                                         \
        .verbs = VERB_CREATE | VERB_DELETE | VERB_GET | VERB_PATCH | VERB_UPDATE                   \
    }
/* The status subresource of a kind, and its proxy. */
#define STATUS_AND_PROXY_OF(kind_)                                                                 \
    ((const struct registry_subresource[]){                                                        \
        PROXY_OF(kind_ "ProxyOptions"),                                                            \
        {.id = SUB_STATUS, .name = "status", .kind = (kind_), .verbs = VERBS_STATUS},              \
        {.id = SUB_NONE},                                                                          \
    })

/* The status subresource of a kind, and the number of its replicas. */
#define STATUS_AND_SCALE_OF(kind_, scale_)                                                         \
    ((const struct registry_subresource[]){                                                        \
        {.id = SUB_SCALE,                                                                          \
         .name = "scale",                                                                          \
         .kind = "Scale",                                                                          \
         .group = "autoscaling",                                                                   \
         .version = "v1",                                                                          \
         .verbs = VERBS_STATUS,                                                                    \
         .scale = (scale_)},                                                                       \
        {.id = SUB_STATUS, .name = "status", .kind = (kind_), .verbs = VERBS_STATUS},              \
        {.id = SUB_NONE},                                                                          \
    })

/* What is scaled of a training job are its workers. */
#define WORKERS_OF(specs_)                                                                         \
    {                                                                                              \
        .spec_path = "spec." specs_ ".Worker.replicas",                                            \
        .status_path = "status.replicaStatuses.Worker.active",                                     \
        .selector_path = "status.replicaStatuses.Worker.selector", .any_case = "Worker"            \
    }

static const struct registry_scale REPLICAS_SCALE = {
    .spec_path = "spec.replicas",
    .status_path = "status.replicas",
    .selector_path = "spec.selector",
};
static const struct registry_scale PYTORCHJOB_SCALE = WORKERS_OF("pytorchReplicaSpecs");
static const struct registry_scale TFJOB_SCALE = WORKERS_OF("tfReplicaSpecs");

#define CORE(plural_, kind_, namespaced_)                                                          \
    .id = {.group = "",                                                                            \
           .version = "v1",                                                                        \
           .plural = (plural_),                                                                    \
           .kind = (kind_),                                                                        \
           .namespaced = (namespaced_)},                                                           \
    .storage = (plural_), .api_version = "v1", .list_kind = kind_ "List"

#define GROUPED(group_, version_, plural_, kind_, namespaced_)                                     \
    .id = {.group = (group_),                                                                      \
           .version = (version_),                                                                  \
           .plural = (plural_),                                                                    \
           .kind = (kind_),                                                                        \
           .namespaced = (namespaced_)},                                                           \
    .storage = plural_ "." group_, .api_version = group_ "/" version_, .list_kind = kind_ "List"

static const struct registry_resource RESOURCES[] = {
    {
        CORE("configmaps", "ConfigMap", true),
        .schema = &TYPE_CONFIG_MAP,
        .singular = "configmap",
        .short_names = NAMES("cm"),
        .verbs = VERBS_ALL,
        .hooks = {.validate = kind_configmap_validate},
    },
    {
        CORE("endpoints", "Endpoints", true),
        .schema = &TYPE_ENDPOINTS,
        .singular = "endpoints",
        .short_names = NAMES("ep"),
        .verbs = VERBS_ALL,
        .hooks = {.defaults = kind_endpoints_defaults, .validate = kind_endpoints_validate},
    },
    {
        CORE("events", "Event", true),
        .schema = &TYPE_EVENT,
        .singular = "event",
        .short_names = NAMES("ev"),
        .fields = NAMES("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
                        "involvedObject.uid", "involvedObject.apiVersion",
                        "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                        "reportingComponent", "source", "type"),
        .verbs = VERBS_ALL,
    },
    {
        CORE("limitranges", "LimitRange", true),
        .schema = &TYPE_LIMIT_RANGE,
        .singular = "limitrange",
        .short_names = NAMES("limits"),
        .verbs = VERBS_ALL,
        .hooks = {.defaults = kind_limit_range_defaults, .validate = kind_limit_range_validate},
    },
    {
        CORE("namespaces", "Namespace", false),
        .schema = &TYPE_NAMESPACE,
        .singular = "namespace",
        .short_names = NAMES("ns"),
        .fields = NAMES("status.phase"),
        .verbs = VERBS_ALL & ~(unsigned)VERB_DELETE_COLLECTION,
        .name_rule = NAME_LABEL,
        .subresources =
            (const struct registry_subresource[]){
                {.id = SUB_FINALIZE, .name = "finalize", .kind = "Namespace", .verbs = VERB_UPDATE},
                {.id = SUB_STATUS, .name = "status", .kind = "Namespace", .verbs = VERBS_STATUS},
                {.id = SUB_NONE},
            },
        .hooks = {.defaults = kind_namespace_defaults,
                  .create = kind_namespace_create,
                  .admit = admission_admit_namespace},
    },
    {
        CORE("nodes", "Node", false),
        .schema = &TYPE_NODE,
        .singular = "node",
        .short_names = NAMES("no"),
        .fields = NAMES("spec.unschedulable"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_PROXY_OF("Node"),
        .hooks = {.defaults = kind_node_defaults,
                  .create = kind_node_create,
                  .validate = kind_node_validate},
    },
    {
        CORE("persistentvolumeclaims", "PersistentVolumeClaim", true),
        .schema = &TYPE_PERSISTENT_VOLUME_CLAIM,
        .singular = "persistentvolumeclaim",
        .short_names = NAMES("pvc"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("PersistentVolumeClaim"),
        .hooks = {.create = kind_claim_create,
                  .validate = kind_claim_validate,
                  .admit = admission_admit_claim},
    },
    {
        CORE("persistentvolumes", "PersistentVolume", false),
        .schema = &TYPE_PERSISTENT_VOLUME,
        .singular = "persistentvolume",
        .short_names = NAMES("pv"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("PersistentVolume"),
        .hooks = {.create = kind_volume_create, .validate = kind_volume_validate},
    },
    {
        CORE("pods", "Pod", true),
        .schema = &TYPE_POD,
        .singular = "pod",
        .short_names = NAMES("po"),
        .categories = ALL,
        .fields = NAMES("spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                        "spec.serviceAccountName", "status.phase", "status.podIP",
                        "status.nominatedNodeName"),
        .verbs = VERBS_ALL,
        .subresources =
            (const struct registry_subresource[]){
                {.id = SUB_ATTACH,
                 .name = "attach",
                 .kind = "PodAttachOptions",
                 .verbs = VERB_CREATE | VERB_GET},
                {.id = SUB_BINDING, .name = "binding", .kind = "Binding", .verbs = VERB_CREATE},
                {.id = SUB_EVICTION,
                 .name = "eviction",
                 .kind = "Eviction",
                 .group = "policy",
                 .version = "v1",
                 .verbs = VERB_CREATE},
                {.id = SUB_EXEC,
                 .name = "exec",
                 .kind = "PodExecOptions",
                 .verbs = VERB_CREATE | VERB_GET},
                {.id = SUB_LOG, .name = "log", .kind = "Pod", .verbs = VERB_GET},
                {.id = SUB_PORT_FORWARD,
                 .name = "portforward",
                 .kind = "PodPortForwardOptions",
                 .verbs = VERB_CREATE | VERB_GET},
                PROXY_OF("PodProxyOptions"),
                {.id = SUB_STATUS, .name = "status", .kind = "Pod", .verbs = VERBS_STATUS},
                {.id = SUB_NONE},
            },
        .generation = true,
        .graceful = true,
        .hooks = {.defaults = kind_pod_defaults,
                  .create = kind_pod_create,
                  .validate = kind_pod_validate,
                  .admit = admission_admit_pod},
    },
    {
        CORE("resourcequotas", "ResourceQuota", true),
        .schema = &TYPE_RESOURCE_QUOTA,
        .singular = "resourcequota",
        .short_names = NAMES("quota"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("ResourceQuota"),
        .hooks = {.validate = kind_resource_quota_validate,
                  .admit = admission_admit_quota,
                  .status = admission_recount_quota},
    },
    {
        CORE("secrets", "Secret", true),
        .schema = &TYPE_SECRET,
        .singular = "secret",
        .fields = NAMES("type"),
        .verbs = VERBS_ALL,
        .hooks = {.defaults = kind_secret_defaults, .validate = kind_secret_validate},
    },
    {
        CORE("serviceaccounts", "ServiceAccount", true),
        .schema = &TYPE_SERVICE_ACCOUNT,
        .singular = "serviceaccount",
        .short_names = NAMES("sa"),
        .verbs = VERBS_ALL,
        .subresources =
            (const struct registry_subresource[]){
                {.id = SUB_TOKEN,
                 .name = "token",
                 .kind = "TokenRequest",
                 .group = "authentication.k8s.io",
                 .version = "v1",
                 .verbs = VERB_CREATE},
                {.id = SUB_NONE},
            },
    },
    {
        CORE("services", "Service", true),
        .schema = &TYPE_SERVICE,
        .singular = "service",
        .short_names = NAMES("svc"),
        .categories = ALL,
        .fields = NAMES("spec.clusterIP", "spec.type"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_PROXY_OF("Service"),
        .name_rule = NAME_LABEL1035,
        .hooks = {.defaults = kind_service_defaults,
                  .create = kind_service_create,
                  .assign = kind_service_assign,
                  .validate = kind_service_validate},
    },
    {
        GROUPED("apiextensions.k8s.io", "v1", "customresourcedefinitions",
                "CustomResourceDefinition", false),
        .schema = &TYPE_CUSTOM_RESOURCE_DEFINITION,
        .singular = "customresourcedefinition",
        .short_names = NAMES("crd", "crds"),
        .categories = NAMES("api-extensions"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("CustomResourceDefinition"),
        .generation = true,
        .hooks = {.defaults = kind_definition_defaults,
                  .validate = kind_definition_validate,
                  .delete_ = kind_definition_delete,
                  .admit = api_admit_definition},
    },
    {
        GROUPED("apps", "v1", "deployments", "Deployment", true),
        .schema = &TYPE_DEPLOYMENT,
        .singular = "deployment",
        .short_names = NAMES("deploy"),
        .categories = ALL,
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_SCALE_OF("Deployment", &REPLICAS_SCALE),
        .generation = true,
        .hooks = {.defaults = kind_deployment_defaults,
                  .create = kind_deployment_create,
                  .validate = kind_deployment_validate},
    },
    {
        GROUPED("apps", "v1", "replicasets", "ReplicaSet", true),
        .schema = &TYPE_REPLICA_SET,
        .singular = "replicaset",
        .short_names = NAMES("rs"),
        .categories = ALL,
        .fields = NAMES("status.replicas"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_SCALE_OF("ReplicaSet", &REPLICAS_SCALE),
        .generation = true,
        .hooks = {.defaults = kind_replica_set_defaults,
                  .create = kind_replica_set_create,
                  .validate = kind_replica_set_validate},
    },
    {
        GROUPED("argoproj.io", "v1alpha1", "workflows", "Workflow", true),
        .schema = &TYPE_WORKFLOW,
        .form = SCHEMA_FORM_WRITTEN,
        .singular = "workflow",
        .short_names = NAMES("wf"),
        .verbs = VERBS_ALL,
        .generation = true,
        .hooks = {.validate = kind_workflow_validate},
    },
    {
        GROUPED("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", false),
        .schema = &TYPE_SELF_SUBJECT_REVIEW,
        .singular = "selfsubjectreview",
        .verbs = VERB_CREATE,
        .transient = true,
    },
    {
        GROUPED("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
                false),
        .schema = &TYPE_SELF_SUBJECT_ACCESS_REVIEW,
        .singular = "selfsubjectaccessreview",
        .verbs = VERB_CREATE,
        .transient = true,
    },
    {
        GROUPED("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview",
                false),
        .schema = &TYPE_SELF_SUBJECT_RULES_REVIEW,
        .singular = "selfsubjectrulesreview",
        .verbs = VERB_CREATE,
        .transient = true,
    },
    {
        GROUPED("batch", "v1", "jobs", "Job", true),
        .schema = &TYPE_JOB,
        .singular = "job",
        .categories = ALL,
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("Job"),
        .generation = true,
        .hooks = {.defaults = kind_job_defaults,
                  .create = kind_job_create,
                  .validate = kind_job_validate},
    },
    {
        GROUPED("coordination.k8s.io", "v1", "leases", "Lease", true),
        .schema = &TYPE_LEASE,
        .singular = "lease",
        .verbs = VERBS_ALL,
        .hooks = {.validate = kind_lease_validate},
    },
    {
        GROUPED("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true),
        .schema = &TYPE_ENDPOINT_SLICE,
        .singular = "endpointslice",
        .verbs = VERBS_ALL,
        .generation = true,
        .hooks = {.defaults = kind_endpoint_slice_defaults,
                  .validate = kind_endpoint_slice_validate},
    },
    {
        GROUPED("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", true),
        .schema = &TYPE_PYTORCHJOB,
        .form = SCHEMA_FORM_WRITTEN,
        .singular = "pytorchjob",
        .categories = ALL,
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_SCALE_OF("PyTorchJob", &PYTORCHJOB_SCALE),
        .generation = true,
        .hooks = {.create = kind_training_job_create, .validate = kind_pytorchjob_validate},
    },
    {
        GROUPED("kubeflow.org", "v1", "tfjobs", "TFJob", true),
        .schema = &TYPE_TFJOB,
        .form = SCHEMA_FORM_WRITTEN,
        .singular = "tfjob",
        .categories = ALL,
        .verbs = VERBS_ALL,
        .subresources = STATUS_AND_SCALE_OF("TFJob", &TFJOB_SCALE),
        .generation = true,
        .older =
            (const struct registry_older[]){
                {"v1beta1", "kubeflow.org/v1beta1", &TYPE_TFJOB_V1BETA1,
                 kind_tfjob_convert_v1beta1},
                /* Its lists are refused, with the job as it is written today. */
                {"v1alpha1", "kubeflow.org/v1alpha1", NULL, kind_tfjob_convert_v1beta1},
                {0},
            },
        .hooks = {.refuse = kind_tfjob_refuse_list,
                  .create = kind_training_job_create,
                  .validate = kind_tfjob_validate},
    },
    {
        GROUPED("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", false),
        .schema = &TYPE_NODE_METRICS,
        .singular = "",
        .verbs = VERB_GET | VERB_LIST,
        .transient = true,
    },
    {
        GROUPED("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true),
        .schema = &TYPE_POD_METRICS,
        .singular = "",
        .verbs = VERB_GET | VERB_LIST,
        .transient = true,
    },
    {
        GROUPED("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding",
                false),
        .schema = &TYPE_CLUSTER_ROLE_BINDING,
        .singular = "clusterrolebinding",
        .verbs = VERBS_ALL,
        .name_rule = NAME_PATH,
        .hooks = {.defaults = kind_binding_defaults,
                  .validate = kind_binding_validate,
                  .admit = api_admit_binding},
    },
    {
        GROUPED("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false),
        .schema = &TYPE_CLUSTER_ROLE,
        .singular = "clusterrole",
        .verbs = VERBS_ALL,
        .name_rule = NAME_PATH,
        .hooks = {.validate = kind_role_validate, .admit = api_admit_role},
    },
    {
        GROUPED("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true),
        .schema = &TYPE_ROLE_BINDING,
        .singular = "rolebinding",
        .verbs = VERBS_ALL,
        .name_rule = NAME_PATH,
        .hooks = {.defaults = kind_binding_defaults,
                  .validate = kind_binding_validate,
                  .admit = api_admit_binding},
    },
    {
        GROUPED("rbac.authorization.k8s.io", "v1", "roles", "Role", true),
        .schema = &TYPE_ROLE,
        .singular = "role",
        .verbs = VERBS_ALL,
        .name_rule = NAME_PATH,
        .hooks = {.validate = kind_role_validate, .admit = api_admit_role},
    },
    {
        GROUPED("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false),
        .schema = &TYPE_PRIORITY_CLASS,
        .singular = "priorityclass",
        .short_names = NAMES("pc"),
        .verbs = VERBS_ALL,
        .generation = true,
        .hooks = {.validate = kind_priority_class_validate,
                  .admit = admission_admit_priority_class},
    },
    /* Before Volcano's of the same name: who says only "podgroup" means the one that counts here.
     */
    {
        GROUPED("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", true),
        .schema = &TYPE_POD_GROUP,
        .form = SCHEMA_FORM_WRITTEN,
        .singular = "podgroup",
        .short_names = NAMES("pg", "pgs"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("PodGroup"),
        .generation = true,
        .hooks = {.create = kind_pod_group_create, .validate = kind_pod_group_validate},
    },
    {
        GROUPED("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true),
        .schema = &TYPE_VOLCANO_POD_GROUP,
        .form = SCHEMA_FORM_WRITTEN,
        .singular = "podgroup",
        .short_names = NAMES("podgroup-v1beta1"),
        .verbs = VERBS_ALL,
        .subresources = STATUS_OF("PodGroup"),
        .generation = true,
        .hooks = {.create = kind_pod_group_create, .validate = kind_pod_group_validate},
    },
    {
        GROUPED("storage.k8s.io", "v1", "storageclasses", "StorageClass", false),
        .schema = &TYPE_STORAGE_CLASS,
        .singular = "storageclass",
        .short_names = NAMES("sc"),
        .verbs = VERBS_ALL,
        .hooks = {.validate = kind_storage_class_validate},
    },
};

const char *registry_verb_name(enum registry_verb verb)
{
    switch (verb) {
    case VERB_CREATE:
        return "create";
    case VERB_DELETE:
        return "delete";
    case VERB_DELETE_COLLECTION:
        return "deletecollection";
    case VERB_GET:
        return "get";
    case VERB_LIST:
        return "list";
    case VERB_PATCH:
        return "patch";
    case VERB_UPDATE:
        return "update";
    case VERB_WATCH:
        return "watch";
    }
    return "";
}

const struct registry_resource *registry_built_in_at(size_t position)
{
    return position < ARRAY_SIZE(RESOURCES) ? &RESOURCES[position] : NULL;
}

const struct registry_resource *registry_built_in(const char *group, const char *version,
                                                  const char *plural)
{
    for (size_t i = 0; i < ARRAY_SIZE(RESOURCES); i++) {
        const struct kube_resource *id = &RESOURCES[i].id;
        if (str_eq(id->group, group) && str_eq(id->version, version) && str_eq(id->plural, plural))
            return &RESOURCES[i];
    }
    return NULL;
}

bool registry_serves_version(const struct registry_resource *resource, const char *version)
{
    const struct registry_older *older = resource->older;
    for (; older && older->version; older++)
        if (str_eq(older->version, version))
            return true;
    return str_eq(resource->id.version, version);
}

const struct registry_subresource *registry_subresource(const struct registry_resource *resource,
                                                        const char *name)
{
    const struct registry_subresource *sub = resource->subresources;
    for (; sub && sub->id != SUB_NONE; sub++)
        if (str_eq(sub->name, name))
            return sub;
    return NULL;
}

bool registry_has_status(const struct registry_resource *resource)
{
    return registry_subresource(resource, "status") != NULL;
}

bool registry_selects_field(const struct registry_resource *resource, const char *path)
{
    if (str_eq(path, "metadata.name") ||
        (resource->id.namespaced && str_eq(path, "metadata.namespace")))
        return true;
    for (size_t i = 0; resource->fields && resource->fields[i]; i++)
        if (str_eq(resource->fields[i], path))
            return true;
    return false;
}

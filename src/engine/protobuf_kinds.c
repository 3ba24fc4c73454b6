/* The messages kubectl sends as protobuf, with the field numbers of Kubernetes' generated.proto
 * files; what programs write about themselves is in protobuf_records.c. The times of metadata and
 * managedFields are left out: the server sets them. */
#include "engine/protobuf_tables.h"

#include "base/mem.h"
#include "base/str.h"

static const struct protobuf_field OWNER_REFERENCE[] = {
    TEXT(1, "kind"),
    TEXT(3, "name"),
    TEXT(4, "uid"),
    TEXT(5, "apiVersion"),
    FLAG(6, "controller"),
    FLAG(7, "blockOwnerDeletion"),
    END,
};

const struct protobuf_field PROTOBUF_OBJECT_META[] = {
    TEXT(1, "name"),
    TEXT(2, "generateName"),
    TEXT(3, "namespace"),
    TEXT(5, "uid"),
    TEXT(6, "resourceVersion"),
    MAP(11, "labels"),
    MAP(12, "annotations"),
    MESSAGES(13, "ownerReferences", OWNER_REFERENCE),
    TEXTS(14, "finalizers"),
    END,
};

static const struct protobuf_field NAMESPACE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    END,
};

static const struct protobuf_field CONFIG_MAP[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MAP(2, "data"),
    {.number = 3, .name = "binaryData", .type = PROTOBUF_BYTES_MAP},
    FLAG(4, "immutable"),
    END,
};

static const struct protobuf_field SECRET[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    {.number = 2, .name = "data", .type = PROTOBUF_BYTES_MAP},
    TEXT(3, "type"),
    MAP(4, "stringData"),
    FLAG(5, "immutable"),
    END,
};

static const struct protobuf_field LOCAL_REFERENCE[] = {TEXT(1, "name"), END};

static const struct protobuf_field SERVICE_ACCOUNT[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGES(3, "imagePullSecrets", LOCAL_REFERENCE),
    FLAG(4, "automountServiceAccountToken"),
    END,
};

static const struct protobuf_field SERVICE_PORT[] = {
    TEXT(1, "name"),
    TEXT(2, "protocol"),
    NUMBER(3, "port"),
    {.number = 4, .name = "targetPort", .type = PROTOBUF_INT_OR_STRING},
    NUMBER(5, "nodePort"),
    TEXT(6, "appProtocol"),
    END,
};

static const struct protobuf_field SERVICE_SPEC[] = {
    MESSAGES(1, "ports", SERVICE_PORT),
    MAP(2, "selector"),
    TEXT(3, "clusterIP"),
    TEXT(4, "type"),
    TEXTS(5, "externalIPs"),
    TEXT(7, "sessionAffinity"),
    TEXT(10, "externalName"),
    FLAG(13, "publishNotReadyAddresses"),
    TEXTS(18, "clusterIPs"),
    END,
};

static const struct protobuf_field SERVICE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", SERVICE_SPEC),
    END,
};

/* Of a pod, what 'kubectl create job' can say. */
static const struct protobuf_field CONTAINER[] = {
    TEXT(1, "name"),
    TEXT(2, "image"),
    TEXTS(3, "command"),
    TEXTS(4, "args"),
    TEXT(5, "workingDir"),
    TEXT(14, "imagePullPolicy"),
    END,
};

static const struct protobuf_field POD_SPEC[] = {
    MESSAGES(2, "containers", CONTAINER),
    TEXT(3, "restartPolicy"),
    MAP(7, "nodeSelector"),
    TEXT(8, "serviceAccountName"),
    TEXT(16, "hostname"),
    TEXT(17, "subdomain"),
    END,
};

static const struct protobuf_field POD_TEMPLATE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", POD_SPEC),
    END,
};

static const struct protobuf_field JOB_SPEC[] = {
    {.number = 1, .name = "parallelism", .type = PROTOBUF_INT, .keep_zero = true},
    {.number = 2, .name = "completions", .type = PROTOBUF_INT, .keep_zero = true},
    {.number = 3, .name = "activeDeadlineSeconds", .type = PROTOBUF_INT, .keep_zero = true},
    MESSAGE(6, "template", POD_TEMPLATE),
    {.number = 7, .name = "backoffLimit", .type = PROTOBUF_INT, .keep_zero = true},
    {.number = 8, .name = "ttlSecondsAfterFinished", .type = PROTOBUF_INT, .keep_zero = true},
    TEXT(9, "completionMode"),
    FLAG(10, "suspend"),
    END,
};

static const struct protobuf_field JOB[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", JOB_SPEC),
    END,
};

static const struct protobuf_field PRECONDITIONS[] = {
    TEXT(1, "uid"),
    TEXT(2, "resourceVersion"),
    END,
};

static const struct protobuf_field DELETE_OPTIONS[] = {
    {.number = 1, .name = "gracePeriodSeconds", .type = PROTOBUF_INT, .keep_zero = true},
    MESSAGE(2, "preconditions", PRECONDITIONS),
    {.number = 3, .name = "orphanDependents", .type = PROTOBUF_BOOL, .keep_zero = true},
    TEXT(4, "propagationPolicy"),
    TEXTS(5, "dryRun"),
    END,
};

static const struct protobuf_field RESOURCE_ATTRIBUTES[] = {
    TEXT(1, "namespace"), TEXT(2, "verb"),        TEXT(3, "group"), TEXT(4, "version"),
    TEXT(5, "resource"),  TEXT(6, "subresource"), TEXT(7, "name"),  END,
};

static const struct protobuf_field PATH_ATTRIBUTES[] = {TEXT(1, "path"), TEXT(2, "verb"), END};

static const struct protobuf_field REVIEW_SPEC[] = {
    MESSAGE(1, "resourceAttributes", RESOURCE_ATTRIBUTES),
    MESSAGE(2, "nonResourceAttributes", PATH_ATTRIBUTES),
    END,
};

static const struct protobuf_field ACCESS_REVIEW[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", REVIEW_SPEC),
    END,
};

static const struct protobuf_field RULES_REVIEW_SPEC[] = {TEXT(1, "namespace"), END};

static const struct protobuf_field RULES_REVIEW[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", RULES_REVIEW_SPEC),
    END,
};

static const struct protobuf_field SELF_REVIEW[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    END,
};

static const struct protobuf_field BOUND_OBJECT[] = {
    TEXT(1, "kind"), TEXT(2, "apiVersion"), TEXT(3, "name"), TEXT(4, "uid"), END,
};

static const struct protobuf_field TOKEN_REQUEST_SPEC[] = {
    TEXTS(1, "audiences"),
    MESSAGE(3, "boundObjectRef", BOUND_OBJECT),
    NUMBER(4, "expirationSeconds"),
    END,
};

static const struct protobuf_field TOKEN_REQUEST[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", TOKEN_REQUEST_SPEC),
    END,
};

static const struct protobuf_field POLICY_RULE[] = {
    TEXTS(1, "verbs"),         TEXTS(2, "apiGroups"),       TEXTS(3, "resources"),
    TEXTS(4, "resourceNames"), TEXTS(5, "nonResourceURLs"), END,
};

static const struct protobuf_field ROLE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGES(2, "rules", POLICY_RULE),
    END,
};

static const struct protobuf_field SELECTOR_EXPRESSION[] = {
    TEXT(1, "key"),
    TEXT(2, "operator"),
    TEXTS(3, "values"),
    END,
};

static const struct protobuf_field LABEL_SELECTOR[] = {
    MAP(1, "matchLabels"),
    MESSAGES(2, "matchExpressions", SELECTOR_EXPRESSION),
    END,
};

static const struct protobuf_field AGGREGATION[] = {
    MESSAGES(1, "clusterRoleSelectors", LABEL_SELECTOR),
    END,
};

static const struct protobuf_field CLUSTER_ROLE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGES(2, "rules", POLICY_RULE),
    MESSAGE(3, "aggregationRule", AGGREGATION),
    END,
};

static const struct protobuf_field SUBJECT[] = {
    TEXT(1, "kind"), TEXT(2, "apiGroup"), TEXT(3, "name"), TEXT(4, "namespace"), END,
};

static const struct protobuf_field ROLE_REFERENCE[] = {
    TEXT(1, "apiGroup"),
    TEXT(2, "kind"),
    TEXT(3, "name"),
    END,
};

static const struct protobuf_field ROLE_BINDING[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGES(2, "subjects", SUBJECT),
    MESSAGE(3, "roleRef", ROLE_REFERENCE),
    END,
};

static const struct protobuf_field SCALE_SPEC[] = {
    {.number = 1, .name = "replicas", .type = PROTOBUF_INT, .keep_zero = true},
    END,
};

static const struct protobuf_field SCALE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", SCALE_SPEC),
    END,
};

static const struct {
    const char *api_version, *kind;
    const struct protobuf_field *fields;
} KINDS[] = {
    {"v1", "Namespace", NAMESPACE},
    {"v1", "ConfigMap", CONFIG_MAP},
    {"v1", "Secret", SECRET},
    {"v1", "ServiceAccount", SERVICE_ACCOUNT},
    {"v1", "Service", SERVICE},
    {"batch/v1", "Job", JOB},
    {"v1", "Event", PROTOBUF_EVENT},
    {"coordination.k8s.io/v1", "Lease", PROTOBUF_LEASE},
    {"v1", "DeleteOptions", DELETE_OPTIONS},
    {"meta.k8s.io/v1", "DeleteOptions", DELETE_OPTIONS},
    {"authentication.k8s.io/v1", "SelfSubjectReview", SELF_REVIEW},
    {"authentication.k8s.io/v1", "TokenRequest", TOKEN_REQUEST},
    {"authorization.k8s.io/v1", "SelfSubjectAccessReview", ACCESS_REVIEW},
    {"authorization.k8s.io/v1", "SelfSubjectRulesReview", RULES_REVIEW},
    {"autoscaling/v1", "Scale", SCALE},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", CLUSTER_ROLE},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", ROLE_BINDING},
    {"rbac.authorization.k8s.io/v1", "Role", ROLE},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", ROLE_BINDING},
};

const struct protobuf_field *protobuf_fields_of(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (str_eq(KINDS[i].api_version, api_version) && str_eq(KINDS[i].kind, kind))
            return KINDS[i].fields;
    return NULL;
}

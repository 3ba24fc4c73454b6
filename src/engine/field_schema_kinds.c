/* The names of the fields of the kinds people write by hand, as Kubernetes and Kubeflow define
 * them. */
#include "engine/field_schema.h"
#include "engine/field_schema_parts.h"

#include "base/mem.h"
#include "base/str.h"

static const struct field_schema OWNER[] = {
    {"apiVersion"}, {"kind"}, {"name"}, {"uid"}, {"controller"}, {"blockOwnerDeletion"}, {NULL},
};

const struct field_schema FIELD_SCHEMA_METADATA[] = {
    {"name"},
    {"generateName"},
    {"namespace"},
    {"selfLink"},
    {"uid"},
    {"resourceVersion"},
    {"generation"},
    {"creationTimestamp"},
    {"deletionTimestamp"},
    {"deletionGracePeriodSeconds"},
    {"labels"},
    {"annotations"},
    {"finalizers"},
    {"managedFields"},
    {"clusterName"},
    {"ownerReferences", OWNER},
    {NULL},
};

static const struct field_schema POD[] = {
    {"apiVersion"},
    {"kind"},
    {"status"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", FIELD_SCHEMA_POD_SPEC},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_POD_TEMPLATE[] = {
    {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", FIELD_SCHEMA_POD_SPEC},
    {NULL},
};

static const struct field_schema JOB_SPEC[] = {
    {"parallelism"},
    {"completions"},
    {"activeDeadlineSeconds"},
    {"podFailurePolicy"},
    {"successPolicy"},
    {"backoffLimit"},
    {"backoffLimitPerIndex"},
    {"maxFailedIndexes"},
    {"selector"},
    {"manualSelector"},
    {"template", FIELD_SCHEMA_POD_TEMPLATE},
    {"ttlSecondsAfterFinished"},
    {"completionMode"},
    {"suspend"},
    {"podReplacementPolicy"},
    {"managedBy"},
    {NULL},
};

static const struct field_schema JOB[] = {
    {"apiVersion"},     {"kind"}, {"status"}, {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", JOB_SPEC}, {NULL},
};

static const struct field_schema SERVICE_PORT[] = {
    {"name"}, {"protocol"}, {"appProtocol"}, {"port"}, {"targetPort"}, {"nodePort"}, {NULL},
};

static const struct field_schema SERVICE_SPEC[] = {
    {"selector"},
    {"clusterIP"},
    {"clusterIPs"},
    {"type"},
    {"externalIPs"},
    {"sessionAffinity"},
    {"loadBalancerIP"},
    {"loadBalancerSourceRanges"},
    {"externalName"},
    {"externalTrafficPolicy"},
    {"healthCheckNodePort"},
    {"publishNotReadyAddresses"},
    {"sessionAffinityConfig", NULL, "a client stays with its pod for as long as that is there"},
    {"ipFamilies"},
    {"ipFamilyPolicy"},
    {"allocateLoadBalancerNodePorts"},
    {"loadBalancerClass"},
    {"internalTrafficPolicy"},
    {"trafficDistribution"},
    {"ports", SERVICE_PORT},
    {NULL},
};

static const struct field_schema SERVICE[] = {
    {"apiVersion"},         {"kind"}, {"status"}, {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", SERVICE_SPEC}, {NULL},
};

static const struct field_schema RESOURCES[] = {
    {"limits"},
    {"requests"},
    {"claims"},
    {NULL},
};

static const struct field_schema CLAIM_SPEC[] = {
    {"accessModes"},
    {"selector"},
    {"volumeName"},
    {"storageClassName"},
    {"volumeMode"},
    {"dataSource", NULL, "a volume begins empty"},
    {"dataSourceRef", NULL, "a volume begins empty"},
    {"volumeAttributesClassName"},
    {"resources", RESOURCES},
    {NULL},
};

static const struct field_schema CLAIM[] = {
    {"apiVersion"},       {"kind"}, {"status"}, {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", CLAIM_SPEC}, {NULL},
};

static const struct field_schema CONFIG_MAP[] = {
    {"apiVersion"}, {"kind"},      {"data"},
    {"binaryData"}, {"immutable"}, {"metadata", FIELD_SCHEMA_METADATA},
    {NULL},
};

static const struct field_schema SECRET[] = {
    {"apiVersion"},
    {"kind"},
    {"data"},
    {"stringData"},
    {"type"},
    {"immutable"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {NULL},
};

static const struct field_schema SERVICE_ACCOUNT[] = {
    {"apiVersion"},
    {"kind"},
    {"secrets"},
    {"imagePullSecrets"},
    {"automountServiceAccountToken"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {NULL},
};

static const struct field_schema POLICY_RULE[] = {
    {"verbs"}, {"apiGroups"}, {"resources"}, {"resourceNames"}, {"nonResourceURLs"}, {NULL},
};

static const struct field_schema ROLE[] = {
    {"apiVersion"}, {"kind"}, {"metadata", FIELD_SCHEMA_METADATA}, {"rules", POLICY_RULE}, {NULL},
};

static const struct field_schema AGGREGATION[] = {
    {"clusterRoleSelectors"},
    {NULL},
};

static const struct field_schema CLUSTER_ROLE[] = {
    {"apiVersion"},
    {"kind"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"aggregationRule", AGGREGATION},
    {"rules", POLICY_RULE},
    {NULL},
};

static const struct field_schema ROLE_REFERENCE[] = {
    {"apiGroup"},
    {"kind"},
    {"name"},
    {NULL},
};

static const struct field_schema SUBJECT[] = {
    {"apiGroup"}, {"kind"}, {"name"}, {"namespace"}, {NULL},
};

static const struct field_schema ROLE_BINDING[] = {
    {"apiVersion"},
    {"kind"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"roleRef", ROLE_REFERENCE},
    {"subjects", SUBJECT},
    {NULL},
};

static const struct field_schema WORKFLOW[] = {
    {"apiVersion"},
    {"kind"},
    {"status"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", FIELD_SCHEMA_WORKFLOW_SPEC},
    {NULL},
};

static const struct field_schema LEASE_SPEC[] = {
    {"holderIdentity"},   {"leaseDurationSeconds"},
    {"acquireTime"},      {"renewTime"},
    {"leaseTransitions"}, {"strategy"},
    {"preferredHolder"},  {NULL},
};

static const struct field_schema LEASE[] = {
    {"apiVersion"}, {"kind"}, {"metadata", FIELD_SCHEMA_METADATA}, {"spec", LEASE_SPEC}, {NULL},
};

static const struct {
    const char *api_version, *kind;
    const struct field_schema *schema;
} KINDS[] = {
    {"argoproj.io/v1alpha1", "Workflow", WORKFLOW},
    {"v1", "ConfigMap", CONFIG_MAP},
    {"v1", "PersistentVolumeClaim", CLAIM},
    {"v1", "Pod", POD},
    {"v1", "Secret", SECRET},
    {"v1", "Service", SERVICE},
    {"v1", "ServiceAccount", SERVICE_ACCOUNT},
    {"batch/v1", "Job", JOB},
    {"coordination.k8s.io/v1", "Lease", LEASE},
    {"kubeflow.org/v1", "PyTorchJob", FIELD_SCHEMA_PYTORCHJOB},
    {"kubeflow.org/v1", "TFJob", FIELD_SCHEMA_TFJOB},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", CLUSTER_ROLE},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", ROLE_BINDING},
    {"rbac.authorization.k8s.io/v1", "Role", ROLE},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", ROLE_BINDING},
    {"scheduling.volcano.sh/v1beta1", "PodGroup", FIELD_SCHEMA_VOLCANO_POD_GROUP},
    {"scheduling.x-k8s.io/v1alpha1", "PodGroup", FIELD_SCHEMA_POD_GROUP},
};

const struct field_schema *field_schema_of(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (str_eq(KINDS[i].api_version, api_version) && str_eq(KINDS[i].kind, kind))
            return KINDS[i].schema;
    return NULL;
}

/* The names of the fields of the kinds people write by hand, as Kubernetes and Kubeflow define
 * them. */
#include "engine/field_schema.h"
#include "engine/field_schema_parts.h"

#include "base/mem.h"
#include "base/str.h"

static const struct field_schema OWNER[] = {
    {"apiVersion"}, {"kind"}, {"name"}, {"uid"}, {"controller"}, {"blockOwnerDeletion"}, {NULL},
};

static const struct field_schema METADATA[] = {
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

static const struct field_schema FIELD_REF[] = {
    {"apiVersion"},
    {"fieldPath"},
    {NULL},
};

static const struct field_schema RESOURCE_FIELD_REF[] = {
    {"containerName"},
    {"resource"},
    {"divisor"},
    {NULL},
};

static const struct field_schema KEY_REF[] = {
    {"name"},
    {"key"},
    {"optional"},
    {NULL},
};

static const struct field_schema SOURCE_REF[] = {
    {"name"},
    {"optional"},
    {NULL},
};

static const struct field_schema VALUE_FROM[] = {
    {"fieldRef", FIELD_REF},
    {"resourceFieldRef", RESOURCE_FIELD_REF},
    {"configMapKeyRef", KEY_REF},
    {"secretKeyRef", KEY_REF},
    {"fileKeyRef"},
    {NULL},
};

static const struct field_schema ENV[] = {
    {"name"},
    {"value"},
    {"valueFrom", VALUE_FROM},
    {NULL},
};

static const struct field_schema ENV_FROM[] = {
    {"prefix"},
    {"configMapRef", SOURCE_REF},
    {"secretRef", SOURCE_REF},
    {NULL},
};

static const struct field_schema CONTAINER_PORT[] = {
    {"name"}, {"hostPort"}, {"containerPort"}, {"protocol"}, {"hostIP"}, {NULL},
};

static const struct field_schema MOUNT[] = {
    {"name"},    {"readOnly"},         {"recursiveReadOnly"}, {"mountPath"},
    {"subPath"}, {"mountPropagation"}, {"subPathExpr"},       {NULL},
};

static const struct field_schema RESOURCES[] = {
    {"limits"},
    {"requests"},
    {"claims"},
    {NULL},
};

static const struct field_schema HTTP_GET[] = {
    {"path"}, {"port"}, {"host"}, {"scheme"}, {"httpHeaders"}, {NULL},
};

static const struct field_schema EXEC[] = {
    {"command"},
    {NULL},
};

static const struct field_schema TCP_SOCKET[] = {
    {"port"},
    {"host"},
    {NULL},
};

static const struct field_schema GRPC[] = {
    {"port"},
    {"service"},
    {NULL},
};

static const struct field_schema PROBE[] = {
    {"initialDelaySeconds"},
    {"timeoutSeconds"},
    {"periodSeconds"},
    {"successThreshold"},
    {"failureThreshold"},
    {"terminationGracePeriodSeconds"},
    {"httpGet", HTTP_GET},
    {"exec", EXEC},
    {"tcpSocket", TCP_SOCKET},
    {"grpc", GRPC},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_CONTAINER[] = {
    {"name"},
    {"image"},
    {"command"},
    {"args"},
    {"workingDir"},
    {"resizePolicy"},
    {"restartPolicyRules"},
    {"restartPolicy"},
    {"volumeDevices"},
    {"lifecycle"},
    {"terminationMessagePath"},
    {"terminationMessagePolicy"},
    {"imagePullPolicy"},
    {"securityContext"},
    {"stdin"},
    {"stdinOnce"},
    {"tty"},
    {"ports", CONTAINER_PORT},
    {"env", ENV},
    {"envFrom", ENV_FROM},
    {"resources", RESOURCES},
    {"volumeMounts", MOUNT},
    {"livenessProbe", PROBE},
    {"readinessProbe", PROBE},
    {"startupProbe", PROBE},
    {NULL},
};

static const struct field_schema CLAIM_SOURCE[] = {
    {"claimName"},
    {"readOnly"},
    {NULL},
};

static const struct field_schema HOST_PATH[] = {
    {"path"},
    {"type"},
    {NULL},
};

static const struct field_schema EMPTY_DIR[] = {
    {"medium"},
    {"sizeLimit"},
    {NULL},
};

static const struct field_schema CONFIG_MAP_SOURCE[] = {
    {"name"}, {"items"}, {"defaultMode"}, {"optional"}, {NULL},
};

static const struct field_schema SECRET_SOURCE[] = {
    {"secretName"}, {"items"}, {"defaultMode"}, {"optional"}, {NULL},
};

const struct field_schema FIELD_SCHEMA_VOLUME[] = {
    {"name"},
    {"gcePersistentDisk"},
    {"awsElasticBlockStore"},
    {"gitRepo"},
    {"nfs"},
    {"iscsi"},
    {"glusterfs"},
    {"rbd"},
    {"flexVolume"},
    {"cinder"},
    {"cephfs"},
    {"flocker"},
    {"downwardAPI"},
    {"fc"},
    {"azureFile"},
    {"vsphereVolume"},
    {"quobyte"},
    {"azureDisk"},
    {"photonPersistentDisk"},
    {"projected"},
    {"portworxVolume"},
    {"scaleIO"},
    {"storageos"},
    {"csi"},
    {"ephemeral"},
    {"image"},
    {"hostPath", HOST_PATH},
    {"emptyDir", EMPTY_DIR},
    {"persistentVolumeClaim", CLAIM_SOURCE},
    {"configMap", CONFIG_MAP_SOURCE},
    {"secret", SECRET_SOURCE},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_TOLERATION[] = {
    {"key"}, {"operator"}, {"value"}, {"effect"}, {"tolerationSeconds"}, {NULL},
};

static const struct field_schema POD_SPEC[] = {
    {"ephemeralContainers"},
    {"restartPolicy"},
    {"terminationGracePeriodSeconds"},
    {"activeDeadlineSeconds"},
    {"dnsPolicy"},
    {"nodeSelector"},
    {"serviceAccountName"},
    {"serviceAccount"},
    {"automountServiceAccountToken"},
    {"nodeName"},
    {"hostNetwork"},
    {"hostPID"},
    {"hostIPC"},
    {"shareProcessNamespace"},
    {"securityContext"},
    {"imagePullSecrets"},
    {"hostname"},
    {"subdomain"},
    {"affinity"},
    {"schedulerName"},
    {"hostAliases"},
    {"priorityClassName"},
    {"priority"},
    {"dnsConfig"},
    {"readinessGates"},
    {"runtimeClassName"},
    {"enableServiceLinks"},
    {"preemptionPolicy"},
    {"overhead"},
    {"topologySpreadConstraints"},
    {"setHostnameAsFQDN"},
    {"os"},
    {"hostUsers"},
    {"schedulingGates"},
    {"resourceClaims"},
    {"resources"},
    {"containers", FIELD_SCHEMA_CONTAINER},
    {"initContainers", FIELD_SCHEMA_CONTAINER},
    {"volumes", FIELD_SCHEMA_VOLUME},
    {"tolerations", FIELD_SCHEMA_TOLERATION},
    {NULL},
};

static const struct field_schema POD[] = {
    {"apiVersion"}, {"kind"}, {"status"}, {"metadata", METADATA}, {"spec", POD_SPEC}, {NULL},
};

static const struct field_schema POD_TEMPLATE[] = {
    {"metadata", METADATA},
    {"spec", POD_SPEC},
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
    {"template", POD_TEMPLATE},
    {"ttlSecondsAfterFinished"},
    {"completionMode"},
    {"suspend"},
    {"podReplacementPolicy"},
    {"managedBy"},
    {NULL},
};

static const struct field_schema JOB[] = {
    {"apiVersion"}, {"kind"}, {"status"}, {"metadata", METADATA}, {"spec", JOB_SPEC}, {NULL},
};

static const struct field_schema SCHEDULING_POLICY[] = {
    {"minAvailable"},           {"queue"}, {"minResources"}, {"priorityClass"},
    {"scheduleTimeoutSeconds"}, {NULL},
};

static const struct field_schema RUN_POLICY[] = {
    {"cleanPodPolicy"},
    {"ttlSecondsAfterFinished"},
    {"activeDeadlineSeconds"},
    {"backoffLimit"},
    {"suspend"},
    {"managedBy"},
    {"schedulingPolicy", SCHEDULING_POLICY},
    {NULL},
};

static const struct field_schema REPLICA_SPEC[] = {
    {"replicas"},
    {"restartPolicy"},
    {"template", POD_TEMPLATE},
    {NULL},
};

static const struct field_schema REPLICA_SPECS[] = {
    {"*", REPLICA_SPEC},
    {NULL},
};

static const struct field_schema TFJOB_SPEC[] = {
    {"successPolicy"},
    {"enableDynamicWorker"},
    {"runPolicy", RUN_POLICY},
    {"tfReplicaSpecs", REPLICA_SPECS},
    {NULL},
};

static const struct field_schema TFJOB[] = {
    {"apiVersion"}, {"kind"}, {"status"}, {"metadata", METADATA}, {"spec", TFJOB_SPEC}, {NULL},
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
    {"sessionAffinityConfig"},
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
    {"apiVersion"}, {"kind"}, {"status"}, {"metadata", METADATA}, {"spec", SERVICE_SPEC}, {NULL},
};

static const struct field_schema CLAIM_SPEC[] = {
    {"accessModes"},          {"selector"},   {"volumeName"},    {"storageClassName"},
    {"volumeMode"},           {"dataSource"}, {"dataSourceRef"}, {"volumeAttributesClassName"},
    {"resources", RESOURCES}, {NULL},
};

static const struct field_schema CLAIM[] = {
    {"apiVersion"}, {"kind"}, {"status"}, {"metadata", METADATA}, {"spec", CLAIM_SPEC}, {NULL},
};

static const struct field_schema CONFIG_MAP[] = {
    {"apiVersion"},         {"kind"}, {"data"}, {"binaryData"}, {"immutable"},
    {"metadata", METADATA}, {NULL},
};

static const struct field_schema SECRET[] = {
    {"apiVersion"},         {"kind"}, {"data"}, {"stringData"}, {"type"}, {"immutable"},
    {"metadata", METADATA}, {NULL},
};

static const struct field_schema SERVICE_ACCOUNT[] = {
    {"apiVersion"},
    {"kind"},
    {"secrets"},
    {"imagePullSecrets"},
    {"automountServiceAccountToken"},
    {"metadata", METADATA},
    {NULL},
};

static const struct field_schema POLICY_RULE[] = {
    {"verbs"}, {"apiGroups"}, {"resources"}, {"resourceNames"}, {"nonResourceURLs"}, {NULL},
};

static const struct field_schema ROLE[] = {
    {"apiVersion"}, {"kind"}, {"metadata", METADATA}, {"rules", POLICY_RULE}, {NULL},
};

static const struct field_schema AGGREGATION[] = {
    {"clusterRoleSelectors"},
    {NULL},
};

static const struct field_schema CLUSTER_ROLE[] = {
    {"apiVersion"},         {"kind"}, {"metadata", METADATA}, {"aggregationRule", AGGREGATION},
    {"rules", POLICY_RULE}, {NULL},
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
    {"apiVersion"},        {"kind"}, {"metadata", METADATA}, {"roleRef", ROLE_REFERENCE},
    {"subjects", SUBJECT}, {NULL},
};

static const struct field_schema WORKFLOW[] = {
    {"apiVersion"},
    {"kind"},
    {"status"},
    {"metadata", METADATA},
    {"spec", FIELD_SCHEMA_WORKFLOW_SPEC},
    {NULL},
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
    {"kubeflow.org/v1", "TFJob", TFJOB},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", CLUSTER_ROLE},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", ROLE_BINDING},
    {"rbac.authorization.k8s.io/v1", "Role", ROLE},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", ROLE_BINDING},
};

const struct field_schema *field_schema_of(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (str_eq(KINDS[i].api_version, api_version) && str_eq(KINDS[i].kind, kind))
            return KINDS[i].schema;
    return NULL;
}

/* The names of the fields of a pod's spec, as Kubernetes defines them, and which of them have no
 * effect here. A pod stands in a Job, a TFJob and a Workflow, too: they use these tables. */
#include "engine/field_schema.h"
#include "engine/field_schema_parts.h"

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
    {"name"},
    {"hostPort"},
    {"containerPort"},
    {"protocol"},
    {"hostIP", NULL, "a host port is open at the address of its node"},
    {NULL},
};

static const struct field_schema MOUNT[] = {
    {"name"},        {"readOnly"}, {"recursiveReadOnly"},
    {"mountPath"},   {"subPath"},  {"mountPropagation", NULL, "mounts are not passed on"},
    {"subPathExpr"}, {NULL},
};

static const struct field_schema CONTAINER_RESOURCES[] = {
    {"limits", NULL, "limits are counted when a node is chosen, but not enforced"},
    {"requests"},
    {"claims", NULL, "there are no devices to claim"},
    {NULL},
};

#define NO_LABELS "security labels and filters of system calls are not applied"
#define NO_PROBES "probes are not run, a container is ready while it runs"

static const struct field_schema CONTAINER_SECURITY[] = {
    {"allowPrivilegeEscalation"},
    {"appArmorProfile", NULL, NO_LABELS},
    {"capabilities", NULL, "a container never has more than its sandbox"},
    {"privileged"},
    {"procMount"},
    {"readOnlyRootFilesystem"},
    {"runAsGroup"},
    {"runAsNonRoot"},
    {"runAsUser"},
    {"seLinuxOptions", NULL, NO_LABELS},
    {"seccompProfile", NULL, NO_LABELS},
    {"windowsOptions"},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_POD_SECURITY[] = {
    {"appArmorProfile", NULL, NO_LABELS},
    {"fsGroup", NULL, "volumes keep their owner and group"},
    {"fsGroupChangePolicy"},
    {"runAsGroup"},
    {"runAsNonRoot"},
    {"runAsUser"},
    {"seLinuxChangePolicy"},
    {"seLinuxOptions", NULL, NO_LABELS},
    {"seccompProfile", NULL, NO_LABELS},
    {"supplementalGroups", NULL, "a container has no further groups"},
    {"supplementalGroupsPolicy"},
    {"sysctls", NULL, "the kernel's settings are left alone"},
    {"windowsOptions"},
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
    {"restartPolicyRules", NULL, "the restartPolicy of the pod holds for all its containers"},
    {"restartPolicy", NULL, "the restartPolicy of the pod holds for all its containers"},
    {"volumeDevices"},
    {"lifecycle", NULL, "hooks are not run; SIGTERM tells a container to end"},
    {"terminationMessagePath"},
    {"terminationMessagePolicy"},
    {"imagePullPolicy"},
    {"securityContext", CONTAINER_SECURITY},
    {"stdin", NULL, "the input of a container is empty"},
    {"stdinOnce"},
    {"tty", NULL, "a container has no terminal"},
    {"ports", CONTAINER_PORT},
    {"env", ENV},
    {"envFrom", ENV_FROM},
    {"resources", CONTAINER_RESOURCES},
    {"volumeMounts", MOUNT},
    {"livenessProbe", PROBE, NO_PROBES},
    {"readinessProbe", PROBE, NO_PROBES},
    {"startupProbe", PROBE, NO_PROBES},
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
    {"sizeLimit", NULL, "only the disk limits a volume"},
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

const struct field_schema FIELD_SCHEMA_AFFINITY[] = {
    {"nodeAffinity"},
    {"podAffinity", NULL, "only nodes are looked at, not the pods on them"},
    {"podAntiAffinity", NULL, "only nodes are looked at, not the pods on them"},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_POD_SPEC[] = {
    {"ephemeralContainers"},
    {"restartPolicy"},
    {"terminationGracePeriodSeconds"},
    {"activeDeadlineSeconds", NULL, "only that of a Job, TFJob or Workflow is watched"},
    {"dnsPolicy"},
    {"nodeSelector"},
    {"serviceAccountName"},
    {"serviceAccount"},
    {"automountServiceAccountToken"},
    {"nodeName"},
    {"hostNetwork"},
    {"hostPID", NULL, "a container sees its own processes only"},
    {"hostIPC", NULL, "a pod has its own semaphores and shared memory"},
    {"shareProcessNamespace", NULL, "a container sees its own processes only"},
    {"securityContext", FIELD_SCHEMA_POD_SECURITY},
    {"imagePullSecrets"},
    {"hostname"},
    {"subdomain"},
    {"affinity", FIELD_SCHEMA_AFFINITY},
    {"schedulerName"},
    {"hostAliases"},
    {"priorityClassName", NULL, "all pods have the same priority"},
    {"priority"},
    {"dnsConfig"},
    {"readinessGates", NULL, "a pod is ready when its containers are"},
    {"runtimeClassName", NULL, "there is one way to run containers"},
    {"enableServiceLinks"},
    {"preemptionPolicy"},
    {"overhead"},
    {"topologySpreadConstraints", NULL, "only nodes are looked at, not the pods on them"},
    {"setHostnameAsFQDN", NULL, "the host name stays short"},
    {"os"},
    {"hostUsers"},
    {"schedulingGates", NULL, "a pod is scheduled at once"},
    {"resourceClaims", NULL, "there are no devices to claim"},
    {"resources", CONTAINER_RESOURCES},
    {"containers", FIELD_SCHEMA_CONTAINER},
    {"initContainers", FIELD_SCHEMA_CONTAINER},
    {"volumes", FIELD_SCHEMA_VOLUME},
    {"tolerations", FIELD_SCHEMA_TOLERATION},
    {NULL},
};

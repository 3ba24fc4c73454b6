/* A pod, as it is wanted. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"
#define ONLY_NODES "only nodes are looked at, not the pods on them"
#define OWN_PROCESSES "a container sees its own processes only"

LOCAL_TYPE(HOST_ALIAS, CORE "HostAlias", "",
    TEXT(1, "ip", "", REQUIRED, ALWAYS),
    TEXTS(2, "hostnames", ""));

LOCAL_TYPE(POD_DNS_CONFIG_OPTION, CORE "PodDNSConfigOption", "",
    TEXT(1, "name", ""),
    TEXT(2, "value", "", IF_SET));

LOCAL_TYPE(POD_DNS_CONFIG, CORE "PodDNSConfig", "",
    TEXTS(1, "nameservers", ""),
    TEXTS(2, "searches", ""),
    LIST(3, "options", POD_DNS_CONFIG_OPTION, ""));

LOCAL_TYPE(POD_READINESS_GATE, CORE "PodReadinessGate", "",
    TEXT(1, "conditionType", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_OS, CORE "PodOS", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_SCHEDULING_GATE, CORE "PodSchedulingGate", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_RESOURCE_CLAIM, CORE "PodResourceClaim", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(3, "resourceClaimName", "", IF_SET),
    TEXT(4, "resourceClaimTemplateName", "", IF_SET));

LOCAL_TYPE(POD_SCHEDULING_GROUP, CORE "PodSchedulingGroup", "",
    TEXT(1, "podGroupName", "", IF_SET));

TYPE(TYPE_POD_SPEC, CORE "PodSpec", "",
    LIST(1, "volumes", TYPE_VOLUME, "", KEYS("name"), MERGE("name"), RETAIN),
    LIST(20, "initContainers", TYPE_CONTAINER, "", KEYS("name"), MERGE("name")),
    LIST(2, "containers", TYPE_CONTAINER, "", REQUIRED, ALWAYS, KEYS("name"), MERGE("name")),
    LIST(34, "ephemeralContainers", TYPE_EPHEMERAL_CONTAINER, "", KEYS("name"), MERGE("name")),
    TEXT(3, "restartPolicy", "", WORDS("Always", "Never", "OnFailure"), FALLBACK("\"Always\"")),
    INT64(4, "terminationGracePeriodSeconds", "", IF_SET, FALLBACK("30")),
    INT64(5, "activeDeadlineSeconds", "", IF_SET, UNSUPPORTED("only that of a Job, TFJob or Workflow is watched")),
    TEXT(6, "dnsPolicy", "", WORDS("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"), FALLBACK("\"ClusterFirst\"")),
    TEXT_MAP(7, "nodeSelector", "", ATOMIC),
    TEXT(8, "serviceAccountName", ""),
    TEXT(9, "serviceAccount", ""),
    BOOL(21, "automountServiceAccountToken", "", IF_SET),
    TEXT(10, "nodeName", ""),
    BOOL(11, "hostNetwork", ""),
    BOOL(12, "hostPID", "", UNSUPPORTED(OWN_PROCESSES)),
    BOOL(13, "hostIPC", "", UNSUPPORTED("a pod has its own semaphores and shared memory")),
    BOOL(27, "shareProcessNamespace", "", IF_SET, UNSUPPORTED(OWN_PROCESSES)),
    OBJECT(14, "securityContext", TYPE_POD_SECURITY_CONTEXT, "", FALLBACK("{}")),
    LIST(15, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE, "", KEYS("name"), MERGE("name")),
    TEXT(16, "hostname", ""),
    TEXT(17, "subdomain", ""),
    OBJECT(18, "affinity", TYPE_AFFINITY, ""),
    TEXT(19, "schedulerName", "", FALLBACK("\"default-scheduler\"")),
    LIST(22, "tolerations", TYPE_TOLERATION, ""),
    LIST(23, "hostAliases", HOST_ALIAS, "", KEYS("ip"), MERGE("ip")),
    TEXT(24, "priorityClassName", "", UNSUPPORTED("all pods have the same priority")),
    INT32(25, "priority", "", IF_SET),
    OBJECT(26, "dnsConfig", POD_DNS_CONFIG, ""),
    LIST(28, "readinessGates", POD_READINESS_GATE, "", UNSUPPORTED("a pod is ready when its containers are")),
    TEXT(29, "runtimeClassName", "", IF_SET, UNSUPPORTED("there is one way to run containers")),
    BOOL(30, "enableServiceLinks", "", IF_SET, FALLBACK("true")),
    TEXT(31, "preemptionPolicy", "", IF_SET, WORDS("Never", "PreemptLowerPriority")),
    MAP_OF(32, "overhead", TYPE_QUANTITY, ""),
    LIST(33, "topologySpreadConstraints", TYPE_TOPOLOGY_SPREAD_CONSTRAINT, "", KEYS("topologyKey", "whenUnsatisfiable"), MERGE("topologyKey"), UNSUPPORTED(ONLY_NODES)),
    BOOL(35, "setHostnameAsFQDN", "", IF_SET, UNSUPPORTED("the host name stays short")),
    OBJECT(36, "os", POD_OS, ""),
    BOOL(37, "hostUsers", "", IF_SET),
    LIST(38, "schedulingGates", POD_SCHEDULING_GATE, "", KEYS("name"), MERGE("name"), UNSUPPORTED("a pod is scheduled at once")),
    LIST(39, "resourceClaims", POD_RESOURCE_CLAIM, "", KEYS("name"), MERGE("name"), RETAIN, UNSUPPORTED(NO_DEVICES)),
    OBJECT(40, "resources", TYPE_RESOURCE_REQUIREMENTS, ""),
    TEXT(41, "hostnameOverride", "", IF_SET),
    OBJECT(43, "schedulingGroup", POD_SCHEDULING_GROUP, ""));

TYPE(TYPE_POD_TEMPLATE_SPEC, CORE "PodTemplateSpec", "",
    STRUCT(1, "metadata", TYPE_OBJECT_META, ""),
    STRUCT(2, "spec", TYPE_POD_SPEC, ""));

TYPE(TYPE_POD, CORE "Pod", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", TYPE_POD_SPEC, ""),
    STRUCT(3, "status", TYPE_POD_STATUS, ""));

TYPE(TYPE_BINDING, CORE "Binding", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "target", TYPE_OBJECT_REFERENCE, "", REQUIRED));

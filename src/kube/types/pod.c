/* Types of the desired state of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"

LOCAL_TYPE(HOST_ALIAS, CORE "HostAlias", "an address and the names it gets in the pod's hosts file",
    TEXT(1, "ip", "the address", REQUIRED, ALWAYS),
    TEXTS(2, "hostnames", "its name"));

LOCAL_TYPE(POD_DNS_CONFIG_OPTION, CORE "PodDNSConfigOption", "one option of the name resolver",
    TEXT(1, "name", "the name of the option"),
    TEXT(2, "value", "its value, where it takes one", IF_SET));

LOCAL_TYPE(POD_DNS_CONFIG, CORE "PodDNSConfig",
        "how names are looked up in the pod, besides what dnsPolicy says",
    TEXTS(1, "nameservers", "addresses of further name servers"),
    TEXTS(2, "searches", "further domains in which short names are tried"),
    LIST(3, "options", POD_DNS_CONFIG_OPTION, "further options of the resolver"));

LOCAL_TYPE(POD_READINESS_GATE, CORE "PodReadinessGate",
        "a condition that must be true before the pod is ready",
    TEXT(1, "conditionType", "the type of the condition to look for", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_OS, CORE "PodOS", "the operating system that a pod is made for",
    TEXT(1, "name", "linux or windows", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_SCHEDULING_GATE, CORE "PodSchedulingGate",
        "something that must be cleared before a node is chosen",
    TEXT(1, "name", "the name of the gate, unique in the pod", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_RESOURCE_CLAIM, CORE "PodResourceClaim",
        "devices that the containers of the pod may claim by name",
    TEXT(1, "name", "its name in containers", REQUIRED, ALWAYS),
    TEXT(3, "resourceClaimName", "an existing claim in the pod's namespace", IF_SET),
    TEXT(4, "resourceClaimTemplateName",
        "the template from which a claim is made for this pod alone", IF_SET));

LOCAL_TYPE(POD_SCHEDULING_GROUP, CORE "PodSchedulingGroup",
        "the group of pods this one is scheduled with",
    TEXT(1, "podGroupName", "the PodGroup it belongs to", IF_SET));

LOCAL_TYPE(POD_SPEC, CORE "PodSpec", "the desired state of a pod",
    LIST(1, "volumes", TYPE_VOLUME, "storage that its containers may mount", KEYS("name"),
        MERGE("name"), RETAIN),
    LIST(20, "initContainers", TYPE_CONTAINER,
        "containers that run to completion one after the other before the main containers start",
            KEYS("name"),
        MERGE("name")),
    LIST(2, "containers", TYPE_CONTAINER, "the containers that run side by side; at least one",
        REQUIRED, ALWAYS, KEYS("name"), MERGE("name")),
    LIST(34, "ephemeralContainers", TYPE_EPHEMERAL_CONTAINER,
        "containers added to a running pod to look into it", KEYS("name"), MERGE("name")),
    TEXT(3, "restartPolicy", "when containers are restarted: Always, OnFailure or Never",
        WORDS("Always", "Never", "OnFailure"), FALLBACK("\"Always\"")),
    INT64(4, "terminationGracePeriodSeconds",
        "how many seconds containers get between SIGTERM and SIGKILL", IF_SET, FALLBACK("30")),
    INT64(5, "activeDeadlineSeconds",
        "how long the pod may run before it counts as failed", IF_SET),
    TEXT(6, "dnsPolicy",
        "how the pod resolves names: ClusterFirst, ClusterFirstWithHostNet, Default or None",
        WORDS("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
        FALLBACK("\"ClusterFirst\"")),
    TEXT_MAP(7, "nodeSelector", "labels that a node must have to get this pod", ATOMIC),
    TEXT(8, "serviceAccountName", "the account the pod acts as when it calls the API"),
    TEXT(9, "serviceAccount", "deprecated: use serviceAccountName"),
    BOOL(21, "automountServiceAccountToken", "false: containers do not get the account's token",
        IF_SET),
    TEXT(10, "nodeName", "the node it runs on; set by the scheduler, or by hand to bypass it"),
    BOOL(11, "hostNetwork", "true: it uses the network of its node instead of one of its own"),
    BOOL(12, "hostPID", "true: it sees the processes of its node",
        UNSUPPORTED("a container sees its own processes only, or those of its pod")),
    BOOL(13, "hostIPC", "true: it shares semaphores and shared memory with its node"),
    BOOL(27, "shareProcessNamespace", "true: its containers see the processes of each other",
        IF_SET),
    OBJECT(14, "securityContext", TYPE_POD_SECURITY_CONTEXT,
        "users, groups and rights for all its containers", FALLBACK("{}")),
    LIST(15, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE,
        "secrets with which images are fetched from private registries", KEYS("name"),
        MERGE("name")),
    TEXT(16, "hostname", "its host name; default: the pod's own name"),
    TEXT(17, "subdomain", "the headless service under which its host name can be looked up"),
    OBJECT(18, "affinity", TYPE_AFFINITY,
        "the nodes and pods that it must or should be placed with"),
    TEXT(19, "schedulerName", "which scheduler chooses its node",
        FALLBACK("\"default-scheduler\"")),
    LIST(22, "tolerations", TYPE_TOLERATION, "the taints of nodes that it tolerates"),
    LIST(23, "hostAliases", HOST_ALIAS, "further lines of its hosts file", KEYS("ip"), MERGE("ip")),
    TEXT(24, "priorityClassName", "the priority class"),
    INT32(25, "priority", "the priority, taken from the priority class", IF_SET),
    OBJECT(26, "dnsConfig", POD_DNS_CONFIG,
        "name servers and search domains, besides what dnsPolicy gives"),
    LIST(28, "readinessGates", POD_READINESS_GATE,
        "conditions that must be True, too, before it is ready"),
    TEXT(29, "runtimeClassName", "which of the node's container runtimes runs it", IF_SET,
        UNSUPPORTED("there is one way to run containers")),
    BOOL(30, "enableServiceLinks", "true: services appear in the environment of its containers",
        IF_SET),
    TEXT(31, "preemptionPolicy", "whether pods of lower priority may be preempted for it",
        IF_SET, WORDS("Never", "PreemptLowerPriority")),
    MAP_OF(32, "overhead", TYPE_QUANTITY,
        "what running it costs besides the requests of its containers"),
    LIST(33, "topologySpreadConstraints", TYPE_TOPOLOGY_SPREAD_CONSTRAINT,
        "how pods like this one are spread over zones or nodes",
        KEYS("topologyKey", "whenUnsatisfiable"), MERGE("topologyKey")),
    BOOL(35, "setHostnameAsFQDN", "true: its host name has the domain in it", IF_SET),
    OBJECT(36, "os", POD_OS, "the operating system it is made for"),
    BOOL(37, "hostUsers", "false: its users are not those of the node", IF_SET),
    LIST(38, "schedulingGates", POD_SCHEDULING_GATE,
        "gates that must be removed before the pod is scheduled", KEYS("name"), MERGE("name")),
    LIST(39, "resourceClaims", POD_RESOURCE_CLAIM, "devices its containers may use", KEYS("name"),
        MERGE("name"), RETAIN, UNSUPPORTED(NO_DEVICES)),
    OBJECT(40, "resources", TYPE_RESOURCE_REQUIREMENTS, "what all its containers together need"),
    TEXT(41, "hostnameOverride", "a host name used as it is, instead of hostname and subdomain",
        IF_SET),
    OBJECT(43, "schedulingGroup", POD_SCHEDULING_GROUP,
        "the group of pods it is scheduled with, all or none"));

TYPE(TYPE_POD_TEMPLATE_SPEC, CORE "PodTemplateSpec", "a template of pods",
    STRUCT(1, "metadata", TYPE_OBJECT_META, "labels and annotations that each of them gets"),
    STRUCT(2, "spec", POD_SPEC, "the desired state of each of them"));

TYPE(TYPE_POD, CORE "Pod", "containers that run together on one node",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", POD_SPEC, "its desired state"),
    STRUCT(3, "status", TYPE_POD_STATUS, "its present state, as its node reports it"));

TYPE(TYPE_BINDING, CORE "Binding", "the choice of a node for a pod",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "target", TYPE_OBJECT_REFERENCE, "the node that is to run the pod", REQUIRED));

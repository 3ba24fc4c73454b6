/* Types of the spec of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"

LOCAL_TYPE(HOST_ALIAS, CORE "HostAlias", "an IP address and its host names in the pod's /etc/hosts",
    TEXT(1, "ip", "the IP address", REQUIRED, ALWAYS),
    TEXTS(2, "hostnames", "the host names of the address"));

LOCAL_TYPE(POD_DNS_CONFIG_OPTION, CORE "PodDNSConfigOption", "an option of the DNS resolver",
    TEXT(1, "name", "the name of the option"),
    TEXT(2, "value", "the value of the option", IF_SET));

LOCAL_TYPE(POD_DNS_CONFIG, CORE "PodDNSConfig",
        "DNS settings of a pod, in addition to those of dnsPolicy",
    TEXTS(1, "nameservers", "addresses of additional name servers"),
    TEXTS(2, "searches", "additional DNS search domains"),
    LIST(3, "options", POD_DNS_CONFIG_OPTION, "additional options of the resolver"));

LOCAL_TYPE(POD_READINESS_GATE, CORE "PodReadinessGate",
        "a condition that must be True before the pod is ready",
    TEXT(1, "conditionType", "the type of the condition", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_OS, CORE "PodOS", "the operating system of a pod's containers",
    TEXT(1, "name", "the operating system: linux or windows", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_SCHEDULING_GATE, CORE "PodSchedulingGate",
        "a gate that must be removed before the pod is scheduled",
    TEXT(1, "name", "the name of the gate, unique in the pod", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_RESOURCE_CLAIM, CORE "PodResourceClaim",
        "a resource claim that the containers of the pod can use by name",
    TEXT(1, "name", "the name that containers use for the claim", REQUIRED, ALWAYS),
    TEXT(3, "resourceClaimName", "the name of an existing ResourceClaim in the same namespace",
        IF_SET),
    TEXT(4, "resourceClaimTemplateName",
        "the template from which a ResourceClaim is created for this pod", IF_SET));

LOCAL_TYPE(POD_SCHEDULING_GROUP, CORE "PodSchedulingGroup",
        "the group that a pod is scheduled with",
    TEXT(1, "podGroupName", "the name of the PodGroup", IF_SET));

LOCAL_TYPE(POD_SPEC, CORE "PodSpec", "the desired state of a pod",
    LIST(1, "volumes", TYPE_VOLUME, "volumes that its containers can mount", KEYS("name"),
        MERGE("name"), RETAIN),
    LIST(20, "initContainers", TYPE_CONTAINER,
        "containers that run one after the other before the main containers start", KEYS("name"),
        MERGE("name")),
    LIST(2, "containers", TYPE_CONTAINER,
        "the main containers, which run at the same time; at least one", REQUIRED, ALWAYS,
        KEYS("name"), MERGE("name")),
    LIST(34, "ephemeralContainers", TYPE_EPHEMERAL_CONTAINER,
        "containers that are added to the running pod for debugging", KEYS("name"), MERGE("name")),
    TEXT(3, "restartPolicy", "when containers are restarted: Always, OnFailure or Never",
        WORDS("Always", "Never", "OnFailure"), FALLBACK("\"Always\"")),
    INT64(4, "terminationGracePeriodSeconds",
        "seconds that containers get between SIGTERM and SIGKILL", IF_SET, FALLBACK("30")),
    INT64(5, "activeDeadlineSeconds", "seconds that the pod may run before it fails", IF_SET),
    TEXT(6, "dnsPolicy",
        "how DNS is set up: ClusterFirst, ClusterFirstWithHostNet, Default or None",
        WORDS("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
        FALLBACK("\"ClusterFirst\"")),
    TEXT_MAP(7, "nodeSelector", "labels that a node must have to run the pod", ATOMIC),
    TEXT(8, "serviceAccountName", "the service account that the pod uses for API requests"),
    TEXT(9, "serviceAccount", "deprecated: use serviceAccountName"),
    BOOL(21, "automountServiceAccountToken", "false: containers do not get a service account token",
        IF_SET),
    TEXT(10, "nodeName", "the node that runs the pod; normally set by the scheduler"),
    BOOL(11, "hostNetwork", "true: the pod uses the network of its node"),
    BOOL(12, "hostPID", "true: the pod uses the process namespace of its node",
        UNSUPPORTED("a container sees its own processes only, or those of its pod")),
    BOOL(13, "hostIPC", "true: the pod uses the IPC namespace of its node"),
    BOOL(27, "shareProcessNamespace", "true: the containers share one process namespace", IF_SET),
    OBJECT(14, "securityContext", TYPE_POD_SECURITY_CONTEXT,
        "security settings for all containers of the pod", FALLBACK("{}")),
    LIST(15, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE,
        "secrets for pulling images from private registries", KEYS("name"), MERGE("name")),
    TEXT(16, "hostname", "the host name; default: the name of the pod"),
    TEXT(17, "subdomain", "the headless service that gives the host name a DNS record"),
    OBJECT(18, "affinity", TYPE_AFFINITY,
        "rules about the nodes and pods that the pod is placed with"),
    TEXT(19, "schedulerName", "the name of the scheduler that chooses the node",
        FALLBACK("\"default-scheduler\"")),
    LIST(22, "tolerations", TYPE_TOLERATION, "the taints of nodes that the pod tolerates"),
    LIST(23, "hostAliases", HOST_ALIAS, "additional entries for the pod's /etc/hosts", KEYS("ip"),
        MERGE("ip")),
    TEXT(24, "priorityClassName", "the name of the PriorityClass"),
    INT32(25, "priority", "the priority; set from the PriorityClass", IF_SET),
    OBJECT(26, "dnsConfig", POD_DNS_CONFIG, "DNS settings in addition to those of dnsPolicy"),
    LIST(28, "readinessGates", POD_READINESS_GATE,
        "conditions that must also be True before the pod is ready"),
    TEXT(29, "runtimeClassName", "the name of the RuntimeClass", IF_SET,
        UNSUPPORTED("there is only one way to run containers")),
    BOOL(30, "enableServiceLinks", "true: containers get environment variables for services",
        IF_SET),
    TEXT(31, "preemptionPolicy", "whether the pod may preempt pods of lower priority", IF_SET,
        WORDS("Never", "PreemptLowerPriority")),
    MAP_OF(32, "overhead", TYPE_QUANTITY,
        "resources that running the pod takes in addition to its containers' requests",
        UNSUPPORTED("a pod takes nothing in addition to its containers")),
    LIST(33, "topologySpreadConstraints", TYPE_TOPOLOGY_SPREAD_CONSTRAINT,
        "how pods like this one are spread over topology domains",
        KEYS("topologyKey", "whenUnsatisfiable"), MERGE("topologyKey")),
    BOOL(35, "setHostnameAsFQDN", "true: the host name is the fully qualified domain name", IF_SET),
    OBJECT(36, "os", POD_OS, "the operating system of the containers"),
    BOOL(37, "hostUsers", "false: the pod gets a user namespace of its own", IF_SET),
    LIST(38, "schedulingGates", POD_SCHEDULING_GATE,
        "gates that must be removed before the pod is scheduled", KEYS("name"), MERGE("name")),
    LIST(39, "resourceClaims", POD_RESOURCE_CLAIM, "resource claims that the containers can use",
        KEYS("name"), MERGE("name"), RETAIN, UNSUPPORTED(NO_DEVICES)),
    OBJECT(40, "resources", TYPE_RESOURCE_REQUIREMENTS,
        "the resources that all containers need together",
        UNSUPPORTED("only the resources of each container count")),
    TEXT(41, "hostnameOverride", "a host name that replaces hostname and subdomain", IF_SET,
        UNSUPPORTED("only hostname and subdomain are read")),
    OBJECT(43, "schedulingGroup", POD_SCHEDULING_GROUP,
        "the group that the pod is scheduled with, all pods or none",
        UNSUPPORTED("a pod joins a group by the label scheduling.x-k8s.io/pod-group")));

TYPE(TYPE_POD_TEMPLATE_SPEC, CORE "PodTemplateSpec", "a template for pods",
    STRUCT(1, "metadata", TYPE_OBJECT_META, "the labels and annotations of the pods"),
    STRUCT(2, "spec", POD_SPEC, "the desired state of the pods"));

TYPE(TYPE_POD, CORE "Pod", "containers that run together on one node",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", POD_SPEC, "its desired state"),
    STRUCT(3, "status", TYPE_POD_STATUS, "its current state, as reported by its node"));

TYPE(TYPE_BINDING, CORE "Binding", "binds a pod to a node",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "target", TYPE_OBJECT_REFERENCE, "the node that runs the pod", REQUIRED));

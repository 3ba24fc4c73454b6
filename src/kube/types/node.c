/* Types of nodes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(TAINT, CORE "Taint", "a taint of a node; pods that do not tolerate it stay away",
    TEXT(1, "key", "the key of the taint", REQUIRED, ALWAYS),
    TEXT(2, "value", "the value of the taint"),
    TEXT(3, "effect",
        "the effect on pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute",
        REQUIRED, ALWAYS,
        WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    TIME(4, "timeAdded", "when the taint was added"));

LOCAL_TYPE(CONFIG_MAP_NODE_CONFIG_SOURCE, CORE "ConfigMapNodeConfigSource",
        "deprecated: a config map with the configuration of a node",
    TEXT(1, "namespace", "the namespace of the config map", REQUIRED, ALWAYS),
    TEXT(2, "name", "the name of the config map", REQUIRED, ALWAYS),
    TEXT(3, "uid", "the UID of the config map"),
    TEXT(4, "resourceVersion", "the resource version of the config map"),
    TEXT(5, "kubeletConfigKey", "the key that holds the kubelet configuration", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_SOURCE, CORE "NodeConfigSource",
        "deprecated: the source of a node's configuration",
    OBJECT(2, "configMap", CONFIG_MAP_NODE_CONFIG_SOURCE, "a config map with the configuration"));

LOCAL_TYPE(NODE_SPEC, CORE "NodeSpec", "the desired state of a node",
    TEXT(1, "podCIDR", "the IP range of the node's pods"),
    TEXTS(7, "podCIDRs", "the IP ranges of the node's pods, one per IP family", SET, MERGE("")),
    TEXT(3, "providerID", "the ID of the node at the cloud provider"),
    BOOL(4, "unschedulable", "true: no new pods are scheduled on the node"),
    LIST(5, "taints", TAINT, "the taints of the node"),
    OBJECT(6, "configSource", NODE_CONFIG_SOURCE,
        "deprecated: the source of the node's configuration"),
    TEXT(2, "externalID", "deprecated: the name of the node in another system"));

LOCAL_TYPE(NODE_CONDITION, CORE "NodeCondition", "a condition of a node",
    TEXT(1, "type", "the type of the condition, such as Ready or MemoryPressure", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastHeartbeatTime", "when the node last reported the condition", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(NODE_ADDRESS, CORE "NodeAddress", "an address of a node",
    TEXT(1, "type", "the type of the address, such as InternalIP or Hostname", REQUIRED, ALWAYS),
    TEXT(2, "address", "the IP address or host name", REQUIRED, ALWAYS));

LOCAL_TYPE(DAEMON_ENDPOINT, CORE "DaemonEndpoint", "the endpoint of a daemon on a node",
    INT32(1, "Port", "the port that the daemon listens on", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_DAEMON_ENDPOINTS, CORE "NodeDaemonEndpoints",
        "the endpoints of the daemons on a node",
    STRUCT(1, "kubeletEndpoint", DAEMON_ENDPOINT, "the endpoint of the kubelet"));

LOCAL_TYPE(NODE_SWAP_STATUS, CORE "NodeSwapStatus", "the swap space of a node",
    INT64(1, "capacity", "the swap space in bytes", IF_SET));

LOCAL_TYPE(NODE_SYSTEM_INFO, CORE "NodeSystemInfo", "the hardware and software of a node",
    TEXT(1, "machineID", "the machine ID, from /etc/machine-id", REQUIRED, ALWAYS),
    TEXT(2, "systemUUID", "the UUID of the hardware", REQUIRED, ALWAYS),
    TEXT(3, "bootID", "the ID of the current boot", REQUIRED, ALWAYS),
    TEXT(4, "kernelVersion", "the version of the kernel", REQUIRED, ALWAYS),
    TEXT(5, "osImage", "the name of the operating system", REQUIRED, ALWAYS),
    TEXT(6, "containerRuntimeVersion", "the name and version of the container runtime", REQUIRED,
        ALWAYS),
    TEXT(7, "kubeletVersion", "the version of the kubelet", REQUIRED, ALWAYS),
    TEXT(8, "kubeProxyVersion", "the version of kube-proxy", REQUIRED, ALWAYS),
    TEXT(9, "operatingSystem", "the operating system, such as linux", REQUIRED, ALWAYS),
    TEXT(10, "architecture", "the processor architecture, such as amd64", REQUIRED, ALWAYS),
    OBJECT(11, "swap", NODE_SWAP_STATUS, "the swap space of the node"));

LOCAL_TYPE(CONTAINER_IMAGE, CORE "ContainerImage", "a container image on a node",
    TEXTS(1, "names", "the names of the image", ALWAYS),
    INT64(2, "sizeBytes", "the size of the image in bytes"));

LOCAL_TYPE(ATTACHED_VOLUME, CORE "AttachedVolume", "a volume that is attached to a node",
    TEXT(1, "name", "the name of the volume", REQUIRED, ALWAYS),
    TEXT(2, "devicePath", "the path of the device on the node", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_STATUS, CORE "NodeConfigStatus", "deprecated: the configuration of a node",
    OBJECT(1, "assigned", NODE_CONFIG_SOURCE, "the configuration that the node should use"),
    OBJECT(2, "active", NODE_CONFIG_SOURCE, "the configuration that the node uses"),
    OBJECT(3, "lastKnownGood", NODE_CONFIG_SOURCE, "the last configuration that worked"),
    TEXT(4, "error", "why the node does not use the assigned configuration"));

LOCAL_TYPE(NODE_RUNTIME_HANDLER_FEATURES, CORE "NodeRuntimeHandlerFeatures",
        "the features of a container runtime handler",
    BOOL(1, "recursiveReadOnlyMounts", "true: recursive read-only mounts are supported", IF_SET),
    BOOL(2, "userNamespaces", "true: user namespaces are supported", IF_SET));

LOCAL_TYPE(NODE_RUNTIME_HANDLER, CORE "NodeRuntimeHandler", "a container runtime handler of a node",
    TEXT(1, "name", "the name of the handler, which runtime classes refer to", ALWAYS),
    OBJECT(2, "features", NODE_RUNTIME_HANDLER_FEATURES, "the features of the handler"));

LOCAL_TYPE(NODE_FEATURES, CORE "NodeFeatures", "the features of a node",
    BOOL(1, "supplementalGroupsPolicy", "true: supplementalGroupsPolicy of pods is supported",
        IF_SET));

LOCAL_TYPE(NODE_STATUS, CORE "NodeStatus", "the resources and the current state of a node",
    MAP_OF(1, "capacity", TYPE_QUANTITY, "the total amount of each resource"),
    MAP_OF(2, "allocatable", TYPE_QUANTITY, "the amount of each resource that pods can use"),
    TEXT(3, "phase", "deprecated: not used any more"),
    LIST(4, "conditions", NODE_CONDITION, "the conditions of the node", KEYS("type"),
        MERGE("type")),
    LIST(5, "addresses", NODE_ADDRESS, "the addresses of the node", KEYS("type"), MERGE("type")),
    STRUCT(6, "daemonEndpoints", NODE_DAEMON_ENDPOINTS, "the endpoints of the daemons on the node"),
    STRUCT(7, "nodeInfo", NODE_SYSTEM_INFO, "the hardware and software of the node"),
    LIST(8, "images", CONTAINER_IMAGE, "the container images on the node"),
    TEXTS(9, "volumesInUse", "the volumes that pods on the node use"),
    LIST(10, "volumesAttached", ATTACHED_VOLUME, "the volumes that are attached to the node"),
    OBJECT(11, "config", NODE_CONFIG_STATUS, "deprecated: the configuration of the node"),
    LIST(12, "runtimeHandlers", NODE_RUNTIME_HANDLER, "the container runtime handlers of the node"),
    OBJECT(13, "features", NODE_FEATURES, "the features of the node"),
    TEXTS(14, "declaredFeatures", "the Kubernetes features that the node declares"));

TYPE(TYPE_NODE, CORE "Node", "a machine that runs pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NODE_SPEC, "its desired state"),
    STRUCT(3, "status", NODE_STATUS, "its resources and its current state"));

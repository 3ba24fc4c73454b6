/* Types of nodes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(TAINT, CORE "Taint", "something about a node that keeps pods away",
    TEXT(1, "key", "its key", REQUIRED, ALWAYS),
    TEXT(2, "value", "its value"),
    TEXT(3, "effect",
        "the effect on pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute",
        REQUIRED, ALWAYS,
        WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    TIME(4, "timeAdded", "since when it is there"));

LOCAL_TYPE(CONFIG_MAP_NODE_CONFIG_SOURCE, CORE "ConfigMapNodeConfigSource",
        "a config map that a node was once configured by",
    TEXT(1, "namespace", "its namespace", REQUIRED, ALWAYS),
    TEXT(2, "name", "its name", REQUIRED, ALWAYS),
    TEXT(3, "uid", "its identity"),
    TEXT(4, "resourceVersion", "its version"),
    TEXT(5, "kubeletConfigKey", "which of its keys", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_SOURCE, CORE "NodeConfigSource",
        "where a node once got its configuration from",
    OBJECT(2, "configMap", CONFIG_MAP_NODE_CONFIG_SOURCE, "a config map"));

LOCAL_TYPE(NODE_SPEC, CORE "NodeSpec", "what a node is to be",
    TEXT(1, "podCIDR", "the network of its pods"),
    TEXTS(7, "podCIDRs", "the networks of its pods, one for each family", SET, MERGE("")),
    TEXT(3, "providerID", "what the cloud calls it"),
    BOOL(4, "unschedulable", "true: no new pods come to it"),
    LIST(5, "taints", TAINT, "what keeps pods away from it"),
    OBJECT(6, "configSource", NODE_CONFIG_SOURCE,
        "where it got its configuration from; not used any more"),
    TEXT(2, "externalID", "deprecated: the name of the node in another system"));

LOCAL_TYPE(NODE_CONDITION, CORE "NodeCondition", "a condition of a node",
    TEXT(1, "type", "the type of the condition, such as Ready or MemoryPressure", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastHeartbeatTime", "when the node last said so", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(NODE_ADDRESS, CORE "NodeAddress", "an address of a node",
    TEXT(1, "type", "what sort of address, such as InternalIP or Hostname", REQUIRED, ALWAYS),
    TEXT(2, "address", "the address", REQUIRED, ALWAYS));

LOCAL_TYPE(DAEMON_ENDPOINT, CORE "DaemonEndpoint", "where a program of a node listens",
    INT32(1, "Port", "its port", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_DAEMON_ENDPOINTS, CORE "NodeDaemonEndpoints", "where the programs of a node listen",
    STRUCT(1, "kubeletEndpoint", DAEMON_ENDPOINT, "the one that runs pods"));

LOCAL_TYPE(NODE_SWAP_STATUS, CORE "NodeSwapStatus", "the swap space of a node",
    INT64(1, "capacity", "how many bytes there are", IF_SET));

LOCAL_TYPE(NODE_SYSTEM_INFO, CORE "NodeSystemInfo", "what a node is made of",
    TEXT(1, "machineID", "the identity of the machine, from /etc/machine-id", REQUIRED, ALWAYS),
    TEXT(2, "systemUUID", "the identity of the hardware", REQUIRED, ALWAYS),
    TEXT(3, "bootID", "the identity of this start of the machine", REQUIRED, ALWAYS),
    TEXT(4, "kernelVersion", "the version of the kernel", REQUIRED, ALWAYS),
    TEXT(5, "osImage", "the name of the operating system", REQUIRED, ALWAYS),
    TEXT(6, "containerRuntimeVersion", "what runs containers, and its version", REQUIRED, ALWAYS),
    TEXT(7, "kubeletVersion", "the version of what runs pods", REQUIRED, ALWAYS),
    TEXT(8, "kubeProxyVersion", "the version of what leads to services", REQUIRED, ALWAYS),
    TEXT(9, "operatingSystem", "the kind of operating system", REQUIRED, ALWAYS),
    TEXT(10, "architecture", "the kind of processor", REQUIRED, ALWAYS),
    OBJECT(11, "swap", NODE_SWAP_STATUS, "its swap space"));

LOCAL_TYPE(CONTAINER_IMAGE, CORE "ContainerImage", "an image that a node has",
    TEXTS(1, "names", "all names of it", ALWAYS),
    INT64(2, "sizeBytes", "how large it is"));

LOCAL_TYPE(ATTACHED_VOLUME, CORE "AttachedVolume", "a volume that is attached to a node",
    TEXT(1, "name", "the name of the volume", REQUIRED, ALWAYS),
    TEXT(2, "devicePath", "the device it appears as", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_STATUS, CORE "NodeConfigStatus", "which configuration a node once had",
    OBJECT(1, "assigned", NODE_CONFIG_SOURCE, "the one it should use"),
    OBJECT(2, "active", NODE_CONFIG_SOURCE, "the one it uses"),
    OBJECT(3, "lastKnownGood", NODE_CONFIG_SOURCE, "the last configuration that worked"),
    TEXT(4, "error", "why it does not use the one it should"));

LOCAL_TYPE(NODE_RUNTIME_HANDLER_FEATURES, CORE "NodeRuntimeHandlerFeatures",
        "what a way to run containers can do",
    BOOL(1, "recursiveReadOnlyMounts", "it can make mounts below a mount read-only, too", IF_SET),
    BOOL(2, "userNamespaces", "it can give pods users of their own", IF_SET));

LOCAL_TYPE(NODE_RUNTIME_HANDLER, CORE "NodeRuntimeHandler", "a way to run containers",
    TEXT(1, "name", "its name, which runtime classes use", ALWAYS),
    OBJECT(2, "features", NODE_RUNTIME_HANDLER_FEATURES, "its features"));

LOCAL_TYPE(NODE_FEATURES, CORE "NodeFeatures", "what a node can do",
    BOOL(1, "supplementalGroupsPolicy", "it knows supplementalGroupsPolicy of pods", IF_SET));

LOCAL_TYPE(NODE_STATUS, CORE "NodeStatus", "what a node has, and how it is",
    MAP_OF(1, "capacity", TYPE_QUANTITY, "how much it has of each resource"),
    MAP_OF(2, "allocatable", TYPE_QUANTITY, "how much of each is there for pods"),
    TEXT(3, "phase", "not used any more"),
    LIST(4, "conditions", NODE_CONDITION, "its conditions", KEYS("type"), MERGE("type")),
    LIST(5, "addresses", NODE_ADDRESS, "how it can be reached", KEYS("type"), MERGE("type")),
    STRUCT(6, "daemonEndpoints", NODE_DAEMON_ENDPOINTS, "where its programs listen"),
    STRUCT(7, "nodeInfo", NODE_SYSTEM_INFO, "its hardware and software"),
    LIST(8, "images", CONTAINER_IMAGE, "the images it has"),
    TEXTS(9, "volumesInUse", "volumes its pods use"),
    LIST(10, "volumesAttached", ATTACHED_VOLUME, "volumes that are attached to it"),
    OBJECT(11, "config", NODE_CONFIG_STATUS, "which configuration it had; not used any more"),
    LIST(12, "runtimeHandlers", NODE_RUNTIME_HANDLER, "its ways to run containers"),
    OBJECT(13, "features", NODE_FEATURES, "its features"),
    TEXTS(14, "declaredFeatures", "features of Kubernetes it says it has"));

TYPE(TYPE_NODE, CORE "Node", "a machine that runs pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NODE_SPEC, "its desired state"),
    STRUCT(3, "status", NODE_STATUS, "its resources and its present state"));

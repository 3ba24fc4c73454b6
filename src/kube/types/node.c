/* Nodes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(TAINT, CORE "Taint", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXT(2, "value", ""),
    TEXT(3, "effect", "", REQUIRED, ALWAYS, WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    TIME(4, "timeAdded", ""));

LOCAL_TYPE(CONFIG_MAP_NODE_CONFIG_SOURCE, CORE "ConfigMapNodeConfigSource", "",
    TEXT(1, "namespace", "", REQUIRED, ALWAYS),
    TEXT(2, "name", "", REQUIRED, ALWAYS),
    TEXT(3, "uid", ""),
    TEXT(4, "resourceVersion", ""),
    TEXT(5, "kubeletConfigKey", "", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_SOURCE, CORE "NodeConfigSource", "",
    OBJECT(2, "configMap", CONFIG_MAP_NODE_CONFIG_SOURCE, ""));

LOCAL_TYPE(NODE_SPEC, CORE "NodeSpec", "",
    TEXT(1, "podCIDR", ""),
    TEXTS(7, "podCIDRs", "", SET, MERGE("")),
    TEXT(3, "providerID", ""),
    BOOL(4, "unschedulable", ""),
    LIST(5, "taints", TAINT, ""),
    OBJECT(6, "configSource", NODE_CONFIG_SOURCE, ""),
    TEXT(2, "externalID", ""));

LOCAL_TYPE(NODE_CONDITION, CORE "NodeCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastHeartbeatTime", ""),
    TIME(4, "lastTransitionTime", ""),
    TEXT(5, "reason", ""),
    TEXT(6, "message", ""));

LOCAL_TYPE(NODE_ADDRESS, CORE "NodeAddress", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "address", "", REQUIRED, ALWAYS));

LOCAL_TYPE(DAEMON_ENDPOINT, CORE "DaemonEndpoint", "",
    INT32(1, "Port", "", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_DAEMON_ENDPOINTS, CORE "NodeDaemonEndpoints", "",
    STRUCT(1, "kubeletEndpoint", DAEMON_ENDPOINT, ""));

LOCAL_TYPE(NODE_SWAP_STATUS, CORE "NodeSwapStatus", "",
    INT64(1, "capacity", "", IF_SET));

LOCAL_TYPE(NODE_SYSTEM_INFO, CORE "NodeSystemInfo", "",
    TEXT(1, "machineID", "", REQUIRED, ALWAYS),
    TEXT(2, "systemUUID", "", REQUIRED, ALWAYS),
    TEXT(3, "bootID", "", REQUIRED, ALWAYS),
    TEXT(4, "kernelVersion", "", REQUIRED, ALWAYS),
    TEXT(5, "osImage", "", REQUIRED, ALWAYS),
    TEXT(6, "containerRuntimeVersion", "", REQUIRED, ALWAYS),
    TEXT(7, "kubeletVersion", "", REQUIRED, ALWAYS),
    TEXT(8, "kubeProxyVersion", "", REQUIRED, ALWAYS),
    TEXT(9, "operatingSystem", "", REQUIRED, ALWAYS),
    TEXT(10, "architecture", "", REQUIRED, ALWAYS),
    OBJECT(11, "swap", NODE_SWAP_STATUS, ""));

LOCAL_TYPE(CONTAINER_IMAGE, CORE "ContainerImage", "",
    TEXTS(1, "names", "", ALWAYS),
    INT64(2, "sizeBytes", ""));

LOCAL_TYPE(ATTACHED_VOLUME, CORE "AttachedVolume", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "devicePath", "", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_CONFIG_STATUS, CORE "NodeConfigStatus", "",
    OBJECT(1, "assigned", NODE_CONFIG_SOURCE, ""),
    OBJECT(2, "active", NODE_CONFIG_SOURCE, ""),
    OBJECT(3, "lastKnownGood", NODE_CONFIG_SOURCE, ""),
    TEXT(4, "error", ""));

LOCAL_TYPE(NODE_RUNTIME_HANDLER_FEATURES, CORE "NodeRuntimeHandlerFeatures", "",
    BOOL(1, "recursiveReadOnlyMounts", "", IF_SET),
    BOOL(2, "userNamespaces", "", IF_SET));

LOCAL_TYPE(NODE_RUNTIME_HANDLER, CORE "NodeRuntimeHandler", "",
    TEXT(1, "name", "", ALWAYS),
    OBJECT(2, "features", NODE_RUNTIME_HANDLER_FEATURES, ""));

LOCAL_TYPE(NODE_FEATURES, CORE "NodeFeatures", "",
    BOOL(1, "supplementalGroupsPolicy", "", IF_SET));

LOCAL_TYPE(NODE_STATUS, CORE "NodeStatus", "",
    MAP_OF(1, "capacity", TYPE_QUANTITY, ""),
    MAP_OF(2, "allocatable", TYPE_QUANTITY, ""),
    TEXT(3, "phase", ""),
    LIST(4, "conditions", NODE_CONDITION, "", KEYS("type"), MERGE("type")),
    LIST(5, "addresses", NODE_ADDRESS, "", KEYS("type"), MERGE("type")),
    STRUCT(6, "daemonEndpoints", NODE_DAEMON_ENDPOINTS, ""),
    STRUCT(7, "nodeInfo", NODE_SYSTEM_INFO, ""),
    LIST(8, "images", CONTAINER_IMAGE, ""),
    TEXTS(9, "volumesInUse", ""),
    LIST(10, "volumesAttached", ATTACHED_VOLUME, ""),
    OBJECT(11, "config", NODE_CONFIG_STATUS, ""),
    LIST(12, "runtimeHandlers", NODE_RUNTIME_HANDLER, ""),
    OBJECT(13, "features", NODE_FEATURES, ""),
    TEXTS(14, "declaredFeatures", ""));

TYPE(TYPE_NODE, CORE "Node", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NODE_SPEC, ""),
    STRUCT(3, "status", NODE_STATUS, ""));

/* What became of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_CONDITION, CORE "PodCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    INT64(7, "observedGeneration", ""),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", ""),
    TIME(4, "lastTransitionTime", ""),
    TEXT(5, "reason", ""),
    TEXT(6, "message", ""));

LOCAL_TYPE(HOST_IP, CORE "HostIP", "",
    TEXT(1, "ip", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_IP, CORE "PodIP", "",
    TEXT(1, "ip", "", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_STATE_WAITING, CORE "ContainerStateWaiting", "",
    TEXT(1, "reason", ""),
    TEXT(2, "message", ""));

LOCAL_TYPE(CONTAINER_STATE_RUNNING, CORE "ContainerStateRunning", "",
    TIME(1, "startedAt", ""));

LOCAL_TYPE(CONTAINER_STATE_TERMINATED, CORE "ContainerStateTerminated", "",
    INT32(1, "exitCode", "", REQUIRED, ALWAYS),
    INT32(2, "signal", ""),
    TEXT(3, "reason", ""),
    TEXT(4, "message", ""),
    TIME(5, "startedAt", ""),
    TIME(6, "finishedAt", ""),
    TEXT(7, "containerID", ""));

LOCAL_TYPE(CONTAINER_STATE, CORE "ContainerState", "",
    OBJECT(1, "waiting", CONTAINER_STATE_WAITING, ""),
    OBJECT(2, "running", CONTAINER_STATE_RUNNING, ""),
    OBJECT(3, "terminated", CONTAINER_STATE_TERMINATED, ""));

LOCAL_TYPE(IMAGE_VOLUME_STATUS, CORE "ImageVolumeStatus", "",
    TEXT(1, "imageRef", "", REQUIRED));

LOCAL_TYPE(VOLUME_STATUS, CORE "VolumeStatus", "",
    OBJECT(1, "image", IMAGE_VOLUME_STATUS, ""));

LOCAL_TYPE(VOLUME_MOUNT_STATUS, CORE "VolumeMountStatus", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "mountPath", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""),
    TEXT(4, "recursiveReadOnly", "", IF_SET, WORDS("Disabled", "Enabled", "IfPossible")),
    OBJECT(5, "volumeStatus", VOLUME_STATUS, ""));

LOCAL_TYPE(LINUX_CONTAINER_USER, CORE "LinuxContainerUser", "",
    INT64(1, "uid", "", REQUIRED, ALWAYS),
    INT64(2, "gid", "", REQUIRED, ALWAYS),
    LIST_OF(3, "supplementalGroups", TYPE_INT64, ""));

LOCAL_TYPE(CONTAINER_USER, CORE "ContainerUser", "",
    OBJECT(1, "linux", LINUX_CONTAINER_USER, ""));

LOCAL_TYPE(RESOURCE_HEALTH, CORE "ResourceHealth", "",
    TEXT(1, "resourceID", "", REQUIRED, ALWAYS),
    TEXT(2, "health", ""),
    TEXT(6, "message", "", IF_SET));

LOCAL_TYPE(RESOURCE_STATUS, CORE "ResourceStatus", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    LIST(2, "resources", RESOURCE_HEALTH, "", KEYS("resourceID")));

LOCAL_TYPE(CONTAINER_STATUS, CORE "ContainerStatus", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    STRUCT(2, "state", CONTAINER_STATE, ""),
    STRUCT(3, "lastState", CONTAINER_STATE, ""),
    BOOL(4, "ready", "", REQUIRED, ALWAYS),
    INT32(5, "restartCount", "", REQUIRED, ALWAYS),
    TEXT(6, "image", "", REQUIRED, ALWAYS),
    TEXT(7, "imageID", "", REQUIRED, ALWAYS),
    TEXT(8, "containerID", ""),
    BOOL(9, "started", "", IF_SET),
    MAP_OF(10, "allocatedResources", TYPE_QUANTITY, ""),
    OBJECT(11, "resources", TYPE_RESOURCE_REQUIREMENTS, ""),
    LIST(12, "volumeMounts", VOLUME_MOUNT_STATUS, "", KEYS("mountPath"), MERGE("mountPath")),
    OBJECT(13, "user", CONTAINER_USER, ""),
    LIST(14, "allocatedResourcesStatus", RESOURCE_STATUS, "", KEYS("name"), MERGE("name")),
    TEXT(15, "stopSignal", "", IF_SET));

LOCAL_TYPE(POD_RESOURCE_CLAIM_STATUS, CORE "PodResourceClaimStatus", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "", IF_SET));

LOCAL_TYPE(CONTAINER_EXTENDED_RESOURCE_REQUEST, CORE "ContainerExtendedResourceRequest", "",
    TEXT(1, "containerName", "", REQUIRED, ALWAYS),
    TEXT(2, "resourceName", "", REQUIRED, ALWAYS),
    TEXT(3, "requestName", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_EXTENDED_RESOURCE_CLAIM_STATUS, CORE "PodExtendedResourceClaimStatus", "",
    LIST(1, "requestMappings", CONTAINER_EXTENDED_RESOURCE_REQUEST, "", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS, CORE "NodeAllocatableResourceClaimStatus", "",
    TEXT(1, "resourceClaimName", "", REQUIRED, ALWAYS),
    TEXTS(2, "containers", "", SET),
    MAP_OF(3, "resources", TYPE_QUANTITY, "", REQUIRED));

TYPE(TYPE_POD_STATUS, CORE "PodStatus", "",
    INT64(17, "observedGeneration", ""),
    TEXT(1, "phase", ""),
    LIST(2, "conditions", POD_CONDITION, "", KEYS("type"), MERGE("type")),
    TEXT(3, "message", ""),
    TEXT(4, "reason", ""),
    TEXT(11, "nominatedNodeName", ""),
    TEXT(5, "hostIP", ""),
    LIST(16, "hostIPs", HOST_IP, "", MERGE("ip")),
    TEXT(6, "podIP", ""),
    LIST(12, "podIPs", POD_IP, "", KEYS("ip"), MERGE("ip")),
    TIME(7, "startTime", ""),
    LIST(10, "initContainerStatuses", CONTAINER_STATUS, ""),
    LIST(8, "containerStatuses", CONTAINER_STATUS, ""),
    TEXT(9, "qosClass", ""),
    LIST(13, "ephemeralContainerStatuses", CONTAINER_STATUS, ""),
    TEXT(14, "resize", ""),
    LIST(15, "resourceClaimStatuses", POD_RESOURCE_CLAIM_STATUS, "", KEYS("name"), MERGE("name"), RETAIN),
    OBJECT(18, "extendedResourceClaimStatus", POD_EXTENDED_RESOURCE_CLAIM_STATUS, ""),
    MAP_OF(19, "allocatedResources", TYPE_QUANTITY, ""),
    OBJECT(20, "resources", TYPE_RESOURCE_REQUIREMENTS, ""),
    LIST(21, "nodeAllocatableResourceClaimStatuses", NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS, ""));

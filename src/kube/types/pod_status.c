/* Types of the status of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_CONDITION, CORE "PodCondition", "a condition of a pod",
    TEXT(1, "type", "the type of the condition, such as PodScheduled or Ready", REQUIRED, ALWAYS),
    INT64(7, "observedGeneration", "the metadata.generation that the condition was set for"),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", "when the condition was last checked", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(HOST_IP, CORE "HostIP", "an IP address of the node",
    TEXT(1, "ip", "the IP address", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_IP, CORE "PodIP", "an IP address of the pod",
    TEXT(1, "ip", "the IP address", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_STATE_WAITING, CORE "ContainerStateWaiting",
        "a container that is not running yet",
    TEXT(1, "reason", "the reason as one word, for programs"),
    TEXT(2, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(CONTAINER_STATE_RUNNING, CORE "ContainerStateRunning", "a container that is running",
    TIME(1, "startedAt", "when the container was started", ALWAYS));

LOCAL_TYPE(CONTAINER_STATE_TERMINATED, CORE "ContainerStateTerminated",
        "a container that has terminated",
    INT32(1, "exitCode", "the exit code of the container", REQUIRED, ALWAYS),
    INT32(2, "signal", "the signal that ended the container"),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TEXT(4, "message", "the termination message of the container"),
    TIME(5, "startedAt", "when the container was started", ALWAYS),
    TIME(6, "finishedAt", "when the container terminated", ALWAYS),
    TEXT(7, "containerID", "the ID of the container"));

LOCAL_TYPE(CONTAINER_STATE, CORE "ContainerState",
        "the state of a container: waiting, running or terminated",
    OBJECT(1, "waiting", CONTAINER_STATE_WAITING, "set if the container is not running yet"),
    OBJECT(2, "running", CONTAINER_STATE_RUNNING, "set if the container is running"),
    OBJECT(3, "terminated", CONTAINER_STATE_TERMINATED, "set if the container has terminated"));

LOCAL_TYPE(IMAGE_VOLUME_STATUS, CORE "ImageVolumeStatus", "the image that is mounted",
    TEXT(1, "imageRef", "the digest of the image", REQUIRED));

LOCAL_TYPE(VOLUME_STATUS, CORE "VolumeStatus", "the current state of a volume",
    OBJECT(1, "image", IMAGE_VOLUME_STATUS, "the image that is mounted"));

LOCAL_TYPE(VOLUME_MOUNT_STATUS, CORE "VolumeMountStatus", "the current state of a volume mount",
    TEXT(1, "name", "the name of a volume of the pod", REQUIRED, ALWAYS),
    TEXT(2, "mountPath", "the path in the container where the volume is mounted", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the mount is read-only"),
    TEXT(4, "recursiveReadOnly", "whether mounts below this mount are read-only too", IF_SET,
        WORDS("Disabled", "Enabled", "IfPossible")),
    OBJECT(5, "volumeStatus", VOLUME_STATUS, "the current state of the volume"));

LOCAL_TYPE(LINUX_CONTAINER_USER, CORE "LinuxContainerUser",
        "the user and groups of a container's first process",
    INT64(1, "uid", "the UID of the process", REQUIRED, ALWAYS),
    INT64(2, "gid", "the GID of the process", REQUIRED, ALWAYS),
    LIST_OF(3, "supplementalGroups", TYPE_INT64, "the supplementary groups of the process"));

LOCAL_TYPE(CONTAINER_USER, CORE "ContainerUser", "the user that a container runs as",
    OBJECT(1, "linux", LINUX_CONTAINER_USER, "the user and groups of the process on Linux"));

LOCAL_TYPE(RESOURCE_HEALTH, CORE "ResourceHealth", "the health of a device",
    TEXT(1, "resourceID", "the ID of the device", REQUIRED, ALWAYS),
    TEXT(2, "health", "the health of the device: Healthy, Unhealthy or Unknown"),
    TEXT(6, "message", "the reason as a sentence, for people", IF_SET));

LOCAL_TYPE(RESOURCE_STATUS, CORE "ResourceStatus", "the health of a container's devices",
    TEXT(1, "name", "the resource or resource claim that the devices belong to", REQUIRED, ALWAYS),
    LIST(2, "resources", RESOURCE_HEALTH, "the health of each device", KEYS("resourceID")));

LOCAL_TYPE(CONTAINER_STATUS, CORE "ContainerStatus", "the current state of a container",
    TEXT(1, "name", "the name of the container", REQUIRED, ALWAYS),
    STRUCT(2, "state", CONTAINER_STATE, "the current state of the container"),
    STRUCT(3, "lastState", CONTAINER_STATE, "the state of the container before its last restart"),
    BOOL(4, "ready", "true: the container is ready for traffic", REQUIRED, ALWAYS),
    INT32(5, "restartCount", "how often the container was restarted", REQUIRED, ALWAYS),
    TEXT(6, "image", "the image that the container runs", REQUIRED, ALWAYS),
    TEXT(7, "imageID", "the ID of the image", REQUIRED, ALWAYS),
    TEXT(8, "containerID", "the ID of the container"),
    BOOL(9, "started", "true: the container has started and passed its startup probe", IF_SET),
    MAP_OF(10, "allocatedResources", TYPE_QUANTITY,
        "the amount of each resource allocated on the node"),
    OBJECT(11, "resources", TYPE_RESOURCE_REQUIREMENTS,
        "the requests and limits that are in effect"),
    LIST(12, "volumeMounts", VOLUME_MOUNT_STATUS, "the current state of the volume mounts",
        KEYS("mountPath"), MERGE("mountPath")),
    OBJECT(13, "user", CONTAINER_USER, "the user that the container runs as"),
    LIST(14, "allocatedResourcesStatus", RESOURCE_STATUS, "the health of the container's devices",
        KEYS("name"), MERGE("name")),
    TEXT(15, "stopSignal", "the signal that stops the container", IF_SET));

LOCAL_TYPE(POD_RESOURCE_CLAIM_STATUS, CORE "PodResourceClaimStatus",
        "a resource claim that was created for a pod",
    TEXT(1, "name", "the name of an entry in the pod's resourceClaims", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "the name of the ResourceClaim", IF_SET));

LOCAL_TYPE(CONTAINER_EXTENDED_RESOURCE_REQUEST, CORE "ContainerExtendedResourceRequest",
        "maps an extended resource to a request of a resource claim",
    TEXT(1, "containerName", "the name of the container", REQUIRED, ALWAYS),
    TEXT(2, "resourceName", "the extended resource that the container requests", REQUIRED, ALWAYS),
    TEXT(3, "requestName", "the name of the request in the claim", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_EXTENDED_RESOURCE_CLAIM_STATUS, CORE "PodExtendedResourceClaimStatus",
        "the resource claim that was created for extended resources",
    LIST(1, "requestMappings", CONTAINER_EXTENDED_RESOURCE_REQUEST,
        "the request of the claim for each extended resource", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "the name of the ResourceClaim", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS, CORE "NodeAllocatableResourceClaimStatus",
        "the resources of the node that a resource claim uses",
    TEXT(1, "resourceClaimName", "the name of the ResourceClaim", REQUIRED, ALWAYS),
    TEXTS(2, "containers", "the containers that use the claim", SET),
    MAP_OF(3, "resources", TYPE_QUANTITY, "the amount of each resource that the claim uses",
        REQUIRED));

TYPE(TYPE_POD_STATUS, CORE "PodStatus", "the current state of a pod",
    INT64(17, "observedGeneration", "the metadata.generation that the status was set for"),
    TEXT(1, "phase", "the phase: Pending, Running, Succeeded, Failed or Unknown"),
    LIST(2, "conditions", POD_CONDITION, "the conditions of the pod", KEYS("type"), MERGE("type")),
    TEXT(3, "message", "the reason as a sentence, for people"),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(11, "nominatedNodeName", "the node on which pods are preempted to make room for this pod"),
    TEXT(5, "hostIP", "the IP address of the pod's node"),
    LIST(16, "hostIPs", HOST_IP, "the IP addresses of the pod's node", MERGE("ip")),
    TEXT(6, "podIP", "the IP address of the pod"),
    LIST(12, "podIPs", POD_IP, "the IP addresses of the pod, one per IP family", KEYS("ip"),
        MERGE("ip")),
    TIME(7, "startTime", "when the node accepted the pod"),
    LIST(10, "initContainerStatuses", CONTAINER_STATUS, "the current state of each init container"),
    LIST(8, "containerStatuses", CONTAINER_STATUS, "the current state of each container"),
    TEXT(9, "qosClass", "the quality of service class: Guaranteed, Burstable or BestEffort"),
    LIST(13, "ephemeralContainerStatuses", CONTAINER_STATUS,
        "the current state of each ephemeral container"),
    TEXT(14, "resize", "the current state of a resize of the pod's resources"),
    LIST(15, "resourceClaimStatuses", POD_RESOURCE_CLAIM_STATUS,
        "the resource claims that were created for the pod", KEYS("name"), MERGE("name"), RETAIN),
    OBJECT(18, "extendedResourceClaimStatus", POD_EXTENDED_RESOURCE_CLAIM_STATUS,
        "the resource claim that was created for extended resources"),
    MAP_OF(19, "allocatedResources", TYPE_QUANTITY,
        "the amount of each resource allocated on the node"),
    OBJECT(20, "resources", TYPE_RESOURCE_REQUIREMENTS,
        "the requests and limits that are in effect"),
    LIST(21, "nodeAllocatableResourceClaimStatuses", NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS,
        "the resources of the node that the resource claims use"));

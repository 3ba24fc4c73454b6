/* Types of the present state of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_CONDITION, CORE "PodCondition", "a condition of a pod",
    TEXT(1, "type", "the type of the condition, such as PodScheduled or Ready", REQUIRED, ALWAYS),
    INT64(7, "observedGeneration", "the generation of the object that this was said of"),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", "when the condition was last checked", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(HOST_IP, CORE "HostIP", "an address of the node",
    TEXT(1, "ip", "the address", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_IP, CORE "PodIP", "an address of the pod",
    TEXT(1, "ip", "the address", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_STATE_WAITING, CORE "ContainerStateWaiting",
        "a container that does not run yet",
    TEXT(1, "reason", "the reason as one word, for programs"),
    TEXT(2, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(CONTAINER_STATE_RUNNING, CORE "ContainerStateRunning", "a container that runs",
    TIME(1, "startedAt", "since when", ALWAYS));

LOCAL_TYPE(CONTAINER_STATE_TERMINATED, CORE "ContainerStateTerminated",
        "a container that has ended",
    INT32(1, "exitCode", "its exit code", REQUIRED, ALWAYS),
    INT32(2, "signal", "the signal that ended it"),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TEXT(4, "message", "its last message"),
    TIME(5, "startedAt", "when it was started", ALWAYS),
    TIME(6, "finishedAt", "when it ended", ALWAYS),
    TEXT(7, "containerID", "the identity of this run of it"));

LOCAL_TYPE(CONTAINER_STATE, CORE "ContainerState", "how a container is: one of these",
    OBJECT(1, "waiting", CONTAINER_STATE_WAITING, "it does not run yet"),
    OBJECT(2, "running", CONTAINER_STATE_RUNNING, "it runs"),
    OBJECT(3, "terminated", CONTAINER_STATE_TERMINATED, "it has ended"));

LOCAL_TYPE(IMAGE_VOLUME_STATUS, CORE "ImageVolumeStatus", "the image that is mounted",
    TEXT(1, "imageRef", "the image by its digest", REQUIRED));

LOCAL_TYPE(VOLUME_STATUS, CORE "VolumeStatus", "what a volume turned out to be",
    OBJECT(1, "image", IMAGE_VOLUME_STATUS, "the image that is mounted"));

LOCAL_TYPE(VOLUME_MOUNT_STATUS, CORE "VolumeMountStatus", "how a volume is mounted in a container",
    TEXT(1, "name", "which of the pod's volumes", REQUIRED, ALWAYS),
    TEXT(2, "mountPath", "where it appears", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "whether it cannot be written to"),
    TEXT(4, "recursiveReadOnly", "whether mounts below it are read-only, too", IF_SET,
        WORDS("Disabled", "Enabled", "IfPossible")),
    OBJECT(5, "volumeStatus", VOLUME_STATUS, "what the volume turned out to be"));

LOCAL_TYPE(LINUX_CONTAINER_USER, CORE "LinuxContainerUser",
        "the users and groups of a container's first process",
    INT64(1, "uid", "its user", REQUIRED, ALWAYS),
    INT64(2, "gid", "its group", REQUIRED, ALWAYS),
    LIST_OF(3, "supplementalGroups", TYPE_INT64, "its further groups"));

LOCAL_TYPE(CONTAINER_USER, CORE "ContainerUser", "the user that a container runs as",
    OBJECT(1, "linux", LINUX_CONTAINER_USER, "its users and groups, on Linux"));

LOCAL_TYPE(RESOURCE_HEALTH, CORE "ResourceHealth", "how one device is",
    TEXT(1, "resourceID", "the identity of the device", REQUIRED, ALWAYS),
    TEXT(2, "health", "Healthy, Unhealthy or Unknown"),
    TEXT(6, "message", "the reason as a sentence, for people", IF_SET));

LOCAL_TYPE(RESOURCE_STATUS, CORE "ResourceStatus", "how the devices of a container are",
    TEXT(1, "name", "the resource, or the claim, they belong to", REQUIRED, ALWAYS),
    LIST(2, "resources", RESOURCE_HEALTH, "each of them", KEYS("resourceID")));

LOCAL_TYPE(CONTAINER_STATUS, CORE "ContainerStatus", "how a container is",
    TEXT(1, "name", "which container", REQUIRED, ALWAYS),
    STRUCT(2, "state", CONTAINER_STATE, "how it is now"),
    STRUCT(3, "lastState", CONTAINER_STATE, "how it was before its last restart"),
    BOOL(4, "ready", "whether it takes connections", REQUIRED, ALWAYS),
    INT32(5, "restartCount", "how often it was restarted", REQUIRED, ALWAYS),
    TEXT(6, "image", "the image it runs from", REQUIRED, ALWAYS),
    TEXT(7, "imageID", "the identity of that image", REQUIRED, ALWAYS),
    TEXT(8, "containerID", "the identity of this run of it"),
    BOOL(9, "started", "whether it has started up", IF_SET),
    MAP_OF(10, "allocatedResources", TYPE_QUANTITY,
        "the amount of each resource that it was given"),
    OBJECT(11, "resources", TYPE_RESOURCE_REQUIREMENTS, "the resources that it was given"),
    LIST(12, "volumeMounts", VOLUME_MOUNT_STATUS, "how its volumes are mounted", KEYS("mountPath"),
        MERGE("mountPath")),
    OBJECT(13, "user", CONTAINER_USER, "the user it runs as"),
    LIST(14, "allocatedResourcesStatus", RESOURCE_STATUS, "how its devices are", KEYS("name"),
        MERGE("name")),
    TEXT(15, "stopSignal", "the signal that tells it to end", IF_SET));

LOCAL_TYPE(POD_RESOURCE_CLAIM_STATUS, CORE "PodResourceClaimStatus",
        "a claim of devices that was made for a pod",
    TEXT(1, "name", "which of the pod's resourceClaims", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "the claim that was made for it", IF_SET));

LOCAL_TYPE(CONTAINER_EXTENDED_RESOURCE_REQUEST, CORE "ContainerExtendedResourceRequest",
        "which request of a claim stands for which resource",
    TEXT(1, "containerName", "the container", REQUIRED, ALWAYS),
    TEXT(2, "resourceName", "the resource that it requested", REQUIRED, ALWAYS),
    TEXT(3, "requestName", "the request in the claim", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_EXTENDED_RESOURCE_CLAIM_STATUS, CORE "PodExtendedResourceClaimStatus",
        "a claim that was made for resources that are devices",
    LIST(1, "requestMappings", CONTAINER_EXTENDED_RESOURCE_REQUEST,
        "which of its requests stands for what", REQUIRED, ALWAYS),
    TEXT(2, "resourceClaimName", "the claim that was made for it", REQUIRED, ALWAYS));

LOCAL_TYPE(NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS, CORE "NodeAllocatableResourceClaimStatus",
        "what of a node a claim takes up",
    TEXT(1, "resourceClaimName", "the claim that was made for it", REQUIRED, ALWAYS),
    TEXTS(2, "containers", "the containers that use it", SET),
    MAP_OF(3, "resources", TYPE_QUANTITY, "how much it takes of each resource", REQUIRED));

TYPE(TYPE_POD_STATUS, CORE "PodStatus", "the present state of a pod",
    INT64(17, "observedGeneration", "the generation of the object that this was said of"),
    TEXT(1, "phase", "Pending, Running, Succeeded, Failed or Unknown"),
    LIST(2, "conditions", POD_CONDITION, "its conditions", KEYS("type"), MERGE("type")),
    TEXT(3, "message", "the reason as a sentence, for people"),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(11, "nominatedNodeName", "the node that is being cleared for it"),
    TEXT(5, "hostIP", "the address of its node"),
    LIST(16, "hostIPs", HOST_IP, "the addresses of its node", MERGE("ip")),
    TEXT(6, "podIP", "its address"),
    LIST(12, "podIPs", POD_IP, "its addresses, one for each family", KEYS("ip"), MERGE("ip")),
    TIME(7, "startTime", "when its node took it on"),
    LIST(10, "initContainerStatuses", CONTAINER_STATUS, "how its init containers are"),
    LIST(8, "containerStatuses", CONTAINER_STATUS, "how its containers are"),
    TEXT(9, "qosClass", "how it is treated when memory is short, from its requests and limits"),
    LIST(13, "ephemeralContainerStatuses", CONTAINER_STATUS, "how the containers added later are"),
    TEXT(14, "resize", "the present state of a change of its resources"),
    LIST(15, "resourceClaimStatuses", POD_RESOURCE_CLAIM_STATUS, "the claims that were made for it",
        KEYS("name"), MERGE("name"), RETAIN),
    OBJECT(18, "extendedResourceClaimStatus", POD_EXTENDED_RESOURCE_CLAIM_STATUS,
        "the claim made for resources that are devices"),
    MAP_OF(19, "allocatedResources", TYPE_QUANTITY,
        "the amount of each resource that it was given"),
    OBJECT(20, "resources", TYPE_RESOURCE_REQUIREMENTS, "the resources that it was given"),
    LIST(21, "nodeAllocatableResourceClaimStatuses", NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS,
        "what its claims take up of the node"));

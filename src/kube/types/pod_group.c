/* Types of PodGroups, as the scheduler-plugins and Volcano define them. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define PLUGINS "io.x-k8s.scheduling.v1alpha1."
#define VOLCANO "sh.volcano.scheduling.v1beta1."

LOCAL_TYPE(POD_GROUP_SPEC, PLUGINS "PodGroupSpec", "how a group of pods is scheduled",
    INT32(0, "minMember", "how many pods must find room at the same time"),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "what the pods of the group need together"),
    INT32(0, "scheduleTimeoutSeconds", "how long the pods of the group may wait for each other",
        IF_SET));

TYPE(TYPE_POD_GROUP, PLUGINS "PodGroup", "pods that start together or not at all",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", POD_GROUP_SPEC, "how they are scheduled"),
    ANYTHING(0, "status", "how many of them are where"));

LOCAL_TYPE(VOLCANO_POD_GROUP_SPEC, VOLCANO "PodGroupSpec", "how a group of pods is scheduled",
    INT32(0, "minMember", "how many pods must find room at the same time"),
    MAP_OF(0, "minTaskMember", TYPE_INT32, "how many pods of each task must find room"),
    TEXT(0, "queue", "the queue that the group waits in"),
    TEXT(0, "priorityClassName", "how important the group is"),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "what the pods of the group need together"),
    ANYTHING(0, "networkTopology", "how near to each other its pods must be"));

TYPE(TYPE_VOLCANO_POD_GROUP, VOLCANO "PodGroup",
        "pods that start together or not at all, in the words of Volcano",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", VOLCANO_POD_GROUP_SPEC, "how they are scheduled"),
    ANYTHING(0, "status", "how many of them are where"));

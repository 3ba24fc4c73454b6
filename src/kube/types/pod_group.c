/* Types of PodGroups, as the scheduler-plugins and Volcano define them. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define PLUGINS "io.x-k8s.scheduling.v1alpha1."
#define VOLCANO "sh.volcano.scheduling.v1beta1."

LOCAL_TYPE(POD_GROUP_SPEC, PLUGINS "PodGroupSpec", "how a group of pods is scheduled",
    INT32(0, "minMember", "the minimum number of pods that are scheduled together"),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "the minimum resources that the pods need together"),
    INT32(0, "scheduleTimeoutSeconds", "seconds that pods of the group may wait for each other",
        IF_SET));

TYPE(TYPE_POD_GROUP, PLUGINS "PodGroup", "pods that are scheduled together or not at all",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", POD_GROUP_SPEC, "how the pods are scheduled"),
    ANYTHING(0, "status", "the phase of the group and counts of its pods"));

LOCAL_TYPE(VOLCANO_POD_GROUP_SPEC, VOLCANO "PodGroupSpec", "how a group of pods is scheduled",
    INT32(0, "minMember", "the minimum number of pods that are scheduled together"),
    MAP_OF(0, "minTaskMember", TYPE_INT32, "the minimum number of pods per task"),
    TEXT(0, "queue", "the queue that the group waits in"),
    TEXT(0, "priorityClassName", "the name of the group's PriorityClass"),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "the minimum resources that the pods need together"),
    ANYTHING(0, "networkTopology", "limits on the network distance between the pods"));

TYPE(TYPE_VOLCANO_POD_GROUP, VOLCANO "PodGroup",
        "pods that are scheduled together or not at all (Volcano API)",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", VOLCANO_POD_GROUP_SPEC, "how the pods are scheduled"),
    ANYTHING(0, "status", "the phase of the group and counts of its pods"));

/* Groups of pods that start together, as the scheduler-plugins and Volcano define them. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define PLUGINS "io.x-k8s.scheduling.v1alpha1."
#define VOLCANO "sh.volcano.scheduling.v1beta1."

LOCAL_TYPE(POD_GROUP_SPEC, PLUGINS "PodGroupSpec", "",
    INT32(0, "minMember", ""),
    MAP_OF(0, "minResources", TYPE_QUANTITY, ""),
    INT32(0, "scheduleTimeoutSeconds", "", IF_SET));

TYPE(TYPE_POD_GROUP, PLUGINS "PodGroup", "",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", POD_GROUP_SPEC, ""),
    ANYTHING(0, "status", ""));

LOCAL_TYPE(VOLCANO_POD_GROUP_SPEC, VOLCANO "PodGroupSpec", "",
    INT32(0, "minMember", ""),
    MAP_OF(0, "minTaskMember", TYPE_INT32, ""),
    TEXT(0, "queue", ""),
    TEXT(0, "priorityClassName", ""),
    MAP_OF(0, "minResources", TYPE_QUANTITY, ""),
    ANYTHING(0, "networkTopology", ""));

TYPE(TYPE_VOLCANO_POD_GROUP, VOLCANO "PodGroup", "",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", VOLCANO_POD_GROUP_SPEC, ""),
    ANYTHING(0, "status", ""));

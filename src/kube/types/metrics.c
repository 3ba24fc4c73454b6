/* Types of the resource usage of pods and nodes (metrics.k8s.io). See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(CONTAINER_METRICS, METRICS "ContainerMetrics", "what a container uses",
    TEXT(1, "name", "the name of the container", REQUIRED, ALWAYS),
    MAP_OF(2, "usage", TYPE_QUANTITY, "so much of each resource", REQUIRED, ALWAYS));

TYPE(TYPE_NODE_METRICS, METRICS "NodeMetrics", "what a node uses",
    KIND_ROWS,
    METADATA(1),
    TIME(2, "timestamp", "when it was measured", REQUIRED, ALWAYS),
    TEXT(3, "window", "over which time before", REQUIRED, ALWAYS),
    MAP_OF(4, "usage", TYPE_QUANTITY, "so much of each resource", REQUIRED, ALWAYS));

TYPE(TYPE_POD_METRICS, METRICS "PodMetrics", "what a pod uses",
    KIND_ROWS,
    METADATA(1),
    TIME(2, "timestamp", "when it was measured", REQUIRED, ALWAYS),
    TEXT(3, "window", "over which time before", REQUIRED, ALWAYS),
    LIST(4, "containers", CONTAINER_METRICS, "each of its containers", REQUIRED, ALWAYS));

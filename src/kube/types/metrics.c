/* Types of the resource usage of pods and nodes (metrics.k8s.io). See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(CONTAINER_METRICS, METRICS "ContainerMetrics", "the resource usage of a container",
    TEXT(1, "name", "the name of the container", REQUIRED, ALWAYS),
    MAP_OF(2, "usage", TYPE_QUANTITY, "the usage of each resource", REQUIRED, ALWAYS));

TYPE(TYPE_NODE_METRICS, METRICS "NodeMetrics", "the resource usage of a node",
    KIND_ROWS,
    METADATA(1),
    TIME(2, "timestamp", "when the usage was measured", REQUIRED, ALWAYS),
    TEXT(3, "window", "the length of the measurement window", REQUIRED, ALWAYS),
    MAP_OF(4, "usage", TYPE_QUANTITY, "the usage of each resource", REQUIRED, ALWAYS));

TYPE(TYPE_POD_METRICS, METRICS "PodMetrics", "the resource usage of a pod",
    KIND_ROWS,
    METADATA(1),
    TIME(2, "timestamp", "when the usage was measured", REQUIRED, ALWAYS),
    TEXT(3, "window", "the length of the measurement window", REQUIRED, ALWAYS),
    LIST(4, "containers", CONTAINER_METRICS, "the resource usage of each container", REQUIRED,
        ALWAYS));

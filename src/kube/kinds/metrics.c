/* NodeMetrics and PodMetrics: their rows. The CPU and memory usage of nodes and pods is measured on
 * request and never stored. */
#include "kube/kinds/row.h"

static const struct kube_column METRICS_COLUMNS[] = {
    {"Name", "string", "name", "Name of the resource", 0, table_name},
    {"cpu", "string", "quantity", "", 0, table_usage_cpu},
    {"memory", "string", "quantity", "", 0, table_usage_memory},
    {"Window", "string", "duration", "", 0, table_usage_window},
};

/* clang-format off */

KUBE_KIND(KUBE_NODE_METRICS, KUBE_NODE_METRICS_KIND, "metrics.k8s.io", "v1beta1", "nodes",
        "NodeMetrics", CLUSTER_WIDE,
    .schema = &TYPE_NODE_METRICS,
    .singular = "",
    .verbs = VERB_GET | VERB_LIST,
    .transient = true,
    .columns = COLUMNS(METRICS_COLUMNS));

KUBE_KIND(KUBE_POD_METRICS, KUBE_POD_METRICS_KIND, "metrics.k8s.io", "v1beta1", "pods",
        "PodMetrics", NAMESPACED,
    .schema = &TYPE_POD_METRICS,
    .singular = "",
    .verbs = VERB_GET | VERB_LIST,
    .transient = true,
    .columns = COLUMNS(METRICS_COLUMNS));

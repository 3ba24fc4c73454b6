/* The row of Pods. Their defaults are in defaults.c, their validation in validate.c. */
#include "kube/kinds/pod/pod.h"

#include "kube/kinds/row.h"

static const struct kube_column POD_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Ready", "Containers that are ready, out of all containers.", table_pod_ready),
    COLUMN_TEXT("Status", "Status of the pod, derived from its containers.", table_pod_status),
    COLUMN_TEXT("Restarts", "How often its containers were restarted, and when last.",
                table_pod_restarts),
    COLUMN_AGE,
    COLUMN_WIDE("IP", "IP address of the pod.", table_pod_ip),
    COLUMN_WIDE("Node", "Node that the pod runs on.", table_pod_node),
    COLUMN_WIDE("Nominated Node", "Node on which pods are preempted for this pod.",
                table_pod_nominated_node),
    COLUMN_WIDE("Readiness Gates", "Readiness gates whose condition is True, out of all gates.",
                table_pod_readiness_gates),
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_PODS, KUBE_POD_KIND, "pods", "Pod", NAMESPACED,
    .schema = &TYPE_POD,
    .singular = "pod",
    .short_names = NAMES("po"),
    .categories = CATEGORY_ALL,
    .fields = NAMES("spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
        "spec.serviceAccountName", "status.phase", "status.podIP",
        "status.nominatedNodeName"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(
        {.id = SUB_ATTACH,
         .name = "attach",
         .kind = "PodAttachOptions",
         .verbs = VERB_CREATE | VERB_GET},
        {.id = SUB_BINDING, .name = "binding", .kind = "Binding", .schema = &TYPE_BINDING,
         .verbs = VERB_CREATE},
        {.id = SUB_EVICTION,
         .name = "eviction",
         .kind = "Eviction",
         .group = "policy",
         .version = "v1",
         .schema = &TYPE_EVICTION,
         .verbs = VERB_CREATE},
        {.id = SUB_EXEC,
         .name = "exec",
         .kind = "PodExecOptions",
         .verbs = VERB_CREATE | VERB_GET},
        {.id = SUB_LOG, .name = "log", .kind = "Pod", .verbs = VERB_GET},
        {.id = SUB_PORT_FORWARD,
         .name = "portforward",
         .kind = "PodPortForwardOptions",
         .verbs = VERB_CREATE | VERB_GET},
        PROXY_OF("Pod"),
        STATUS_OF("Pod")),
    .generation = true,
    .graceful = true,
    .columns = COLUMNS(POD_COLUMNS),
    .hooks = {.defaults = kube_pod_defaults,
        .create = kube_pod_prepare_new,
        .validate = kube_pod_validate});

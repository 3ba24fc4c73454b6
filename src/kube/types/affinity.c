/* Types of affinity, tolerations and topology spread. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */


LOCAL_TYPE(NODE_SELECTOR_REQUIREMENT, CORE "NodeSelectorRequirement",
        "something that must hold for a node",
    TEXT(1, "key", "the label, or field, that is looked at", REQUIRED, ALWAYS),
    TEXT(2, "operator", "how it is compared with the values", REQUIRED, ALWAYS,
        WORDS("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")),
    TEXTS(3, "values", "the values to compare with"));

LOCAL_TYPE_ATOMIC(NODE_SELECTOR_TERM, CORE "NodeSelectorTerm",
        "requirements that a node must meet all",
    LIST(1, "matchExpressions", NODE_SELECTOR_REQUIREMENT,
        "requirements on the labels of the node"),
    LIST(2, "matchFields", NODE_SELECTOR_REQUIREMENT, "requirements on the fields of the node"));

TYPE_ATOMIC(TYPE_NODE_SELECTOR, CORE "NodeSelector", "which nodes fit",
    LIST(1, "nodeSelectorTerms", NODE_SELECTOR_TERM, "a node fits if one of these holds", REQUIRED,
        ALWAYS));

LOCAL_TYPE(PREFERRED_SCHEDULING_TERM, CORE "PreferredSchedulingTerm", "nodes that are liked better",
    INT32(1, "weight", "how much better, from 1 to 100", REQUIRED, ALWAYS),
    STRUCT(2, "preference", NODE_SELECTOR_TERM, "which nodes", REQUIRED));

LOCAL_TYPE(NODE_AFFINITY, CORE "NodeAffinity", "which nodes a pod may go to, by their labels",
    OBJECT(1, "requiredDuringSchedulingIgnoredDuringExecution", TYPE_NODE_SELECTOR,
        "the nodes it may go to"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", PREFERRED_SCHEDULING_TERM,
        "the nodes it would rather go to"));

LOCAL_TYPE(POD_AFFINITY_TERM, CORE "PodAffinityTerm",
        "pods that one wants to be near to, or far from",
    OBJECT(1, "labelSelector", TYPE_LABEL_SELECTOR, "the labels of those pods"),
    TEXTS(2, "namespaces", "the namespaces of those pods"),
    TEXT(3, "topologyKey", "the label of nodes that tells one place from another", REQUIRED,
        ALWAYS),
    OBJECT(4, "namespaceSelector", TYPE_LABEL_SELECTOR,
        "the labels of the namespaces of those pods"),
    TEXTS(5, "matchLabelKeys", "labels in which those pods must be like this one"),
    TEXTS(6, "mismatchLabelKeys", "labels in which those pods must be unlike this one"));

LOCAL_TYPE(WEIGHTED_POD_AFFINITY_TERM, CORE "WeightedPodAffinityTerm",
        "neighbours that are liked, or disliked, so much",
    INT32(1, "weight", "how much, from 1 to 100", REQUIRED, ALWAYS),
    STRUCT(2, "podAffinityTerm", POD_AFFINITY_TERM, "which neighbours", REQUIRED));

LOCAL_TYPE(POD_AFFINITY, CORE "PodAffinity", "which pods a pod wants to be near to",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM,
        "pods it must be near to"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM,
        "pods it would rather be near to"));

LOCAL_TYPE(POD_ANTI_AFFINITY, CORE "PodAntiAffinity", "which pods a pod wants to be far from",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM,
        "pods it must not be near to"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM,
        "pods it would rather not be near to"));

TYPE(TYPE_AFFINITY, CORE "Affinity", "where a pod may go, and where it would rather go",
    OBJECT(1, "nodeAffinity", NODE_AFFINITY, "by the labels of nodes"),
    OBJECT(2, "podAffinity", POD_AFFINITY, "near to other pods"),
    OBJECT(3, "podAntiAffinity", POD_ANTI_AFFINITY, "away from other pods"));

TYPE(TYPE_TOLERATION, CORE "Toleration", "a taint of nodes that a pod puts up with",
    TEXT(1, "key", "the key of the taint; default: any"),
    TEXT(2, "operator", "Exists: any value; Equal: this one; Gt, Lt: a number above or below it",
        WORDS("Equal", "Exists", "Gt", "Lt")),
    TEXT(3, "value", "the value of the taint"),
    TEXT(4, "effect", "what the taint does; default: anything",
        WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    INT64(5, "tolerationSeconds",
        "how many seconds a taint with effect NoExecute is tolerated; for ever if not set",
            IF_SET));

TYPE(TYPE_TOPOLOGY_SPREAD_CONSTRAINT, CORE "TopologySpreadConstraint",
        "how evenly pods are spread over places",
    INT32(1, "maxSkew", "how many pods more one place may have than another", REQUIRED, ALWAYS),
    TEXT(2, "topologyKey", "the label of nodes that tells one place from another", REQUIRED,
        ALWAYS),
    TEXT(3, "whenUnsatisfiable", "whether a pod waits if it cannot be kept", REQUIRED, ALWAYS,
        WORDS("DoNotSchedule", "ScheduleAnyway")),
    OBJECT(4, "labelSelector", TYPE_LABEL_SELECTOR, "which pods are counted"),
    INT32(5, "minDomains", "how many places there must be at least", IF_SET),
    TEXT(6, "nodeAffinityPolicy", "whether nodes the pod cannot go to are counted", IF_SET,
        WORDS("Honor", "Ignore")),
    TEXT(7, "nodeTaintsPolicy", "whether nodes with taints are counted", IF_SET,
        WORDS("Honor", "Ignore")),
    TEXTS(8, "matchLabelKeys", "labels in which counted pods must be like this one"));

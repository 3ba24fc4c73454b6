/* Types of affinity, tolerations and topology spread. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */


LOCAL_TYPE(NODE_SELECTOR_REQUIREMENT, CORE "NodeSelectorRequirement",
        "a requirement on a label or field of a node",
    TEXT(1, "key", "the label or field to compare", REQUIRED, ALWAYS),
    TEXT(2, "operator", "the operator that compares the key with the values", REQUIRED, ALWAYS,
        WORDS("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")),
    TEXTS(3, "values", "the values to compare with"));

LOCAL_TYPE_ATOMIC(NODE_SELECTOR_TERM, CORE "NodeSelectorTerm",
        "requirements that a node must all meet",
    LIST(1, "matchExpressions", NODE_SELECTOR_REQUIREMENT,
        "requirements on the labels of the node"),
    LIST(2, "matchFields", NODE_SELECTOR_REQUIREMENT, "requirements on the fields of the node"));

TYPE_ATOMIC(TYPE_NODE_SELECTOR, CORE "NodeSelector", "selects nodes by their labels and fields",
    LIST(1, "nodeSelectorTerms", NODE_SELECTOR_TERM,
        "the terms; a node matches if at least one term matches", REQUIRED, ALWAYS));

LOCAL_TYPE(PREFERRED_SCHEDULING_TERM, CORE "PreferredSchedulingTerm",
        "a weighted preference for some nodes",
    INT32(1, "weight", "the weight of the preference, from 1 to 100", REQUIRED, ALWAYS),
    STRUCT(2, "preference", NODE_SELECTOR_TERM, "the nodes that are preferred", REQUIRED));

LOCAL_TYPE(NODE_AFFINITY, CORE "NodeAffinity", "the nodes that a pod must or should run on",
    OBJECT(1, "requiredDuringSchedulingIgnoredDuringExecution", TYPE_NODE_SELECTOR,
        "the nodes that the pod must be scheduled on"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", PREFERRED_SCHEDULING_TERM,
        "the nodes that the scheduler prefers for the pod"));

LOCAL_TYPE(POD_AFFINITY_TERM, CORE "PodAffinityTerm", "other pods to be placed near or away from",
    OBJECT(1, "labelSelector", TYPE_LABEL_SELECTOR, "the label selector of those pods"),
    TEXTS(2, "namespaces", "the namespaces of those pods"),
    TEXT(3, "topologyKey", "the node label that defines the topology domain, such as a zone",
        REQUIRED, ALWAYS),
    OBJECT(4, "namespaceSelector", TYPE_LABEL_SELECTOR,
        "the label selector of those pods' namespaces"),
    TEXTS(5, "matchLabelKeys", "label keys for which those pods must have this pod's values"),
    TEXTS(6, "mismatchLabelKeys",
        "label keys for which those pods must not have this pod's values"));

LOCAL_TYPE(WEIGHTED_POD_AFFINITY_TERM, CORE "WeightedPodAffinityTerm",
        "a weighted preference to be placed near or away from pods",
    INT32(1, "weight", "the weight of the preference, from 1 to 100", REQUIRED, ALWAYS),
    STRUCT(2, "podAffinityTerm", POD_AFFINITY_TERM, "the pods that the preference is about",
        REQUIRED));

LOCAL_TYPE(POD_AFFINITY, CORE "PodAffinity", "the pods that a pod must or should be placed near",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM,
        "pods whose topology domain the pod must share"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM,
        "pods whose topology domain the pod should share"));

LOCAL_TYPE(POD_ANTI_AFFINITY, CORE "PodAntiAffinity",
        "the pods that a pod must or should be placed away from",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM,
        "pods whose topology domain the pod must not share"),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM,
        "pods whose topology domain the pod should not share"));

TYPE(TYPE_AFFINITY, CORE "Affinity", "rules about the nodes and pods that a pod is placed with",
    OBJECT(1, "nodeAffinity", NODE_AFFINITY, "rules about the labels of nodes"),
    OBJECT(2, "podAffinity", POD_AFFINITY, "rules about pods to be placed near"),
    OBJECT(3, "podAntiAffinity", POD_ANTI_AFFINITY, "rules about pods to be placed away from"));

TYPE(TYPE_TOLERATION, CORE "Toleration", "a taint of nodes that a pod tolerates",
    TEXT(1, "key", "the key of the taint; default: every key"),
    TEXT(2, "operator",
        "Exists: any value; Equal: the same value; Gt, Lt: a number above or below it",
        WORDS("Equal", "Exists", "Gt", "Lt")),
    TEXT(3, "value", "the value of the taint"),
    TEXT(4, "effect", "the effect of the taint; default: every effect",
        WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    INT64(5, "tolerationSeconds",
        "how many seconds a NoExecute taint is tolerated; default: forever", IF_SET));

TYPE(TYPE_TOPOLOGY_SPREAD_CONSTRAINT, CORE "TopologySpreadConstraint",
        "how evenly pods are spread over topology domains",
    INT32(1, "maxSkew", "how many more pods one topology domain may have than another", REQUIRED,
        ALWAYS),
    TEXT(2, "topologyKey", "the node label that defines the topology domain, such as a zone",
        REQUIRED, ALWAYS),
    TEXT(3, "whenUnsatisfiable",
        "whether the pod waits or is scheduled anyway if the constraint cannot be met", REQUIRED,
        ALWAYS, WORDS("DoNotSchedule", "ScheduleAnyway")),
    OBJECT(4, "labelSelector", TYPE_LABEL_SELECTOR,
        "the label selector of the pods that are counted"),
    INT32(5, "minDomains", "the minimum number of topology domains", IF_SET),
    TEXT(6, "nodeAffinityPolicy",
        "whether nodes that the pod's affinity or selector excludes are counted", IF_SET,
        WORDS("Honor", "Ignore")),
    TEXT(7, "nodeTaintsPolicy",
        "whether nodes with taints that the pod does not tolerate are counted", IF_SET,
        WORDS("Honor", "Ignore")),
    TEXTS(8, "matchLabelKeys", "label keys for which counted pods must have this pod's values"));

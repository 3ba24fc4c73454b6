/* Which nodes a pod may go to. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define ONLY_NODES "only nodes are looked at, not the pods on them"

LOCAL_TYPE(NODE_SELECTOR_REQUIREMENT, CORE "NodeSelectorRequirement", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXT(2, "operator", "", REQUIRED, ALWAYS, WORDS("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")),
    TEXTS(3, "values", ""));

LOCAL_TYPE_ATOMIC(NODE_SELECTOR_TERM, CORE "NodeSelectorTerm", "",
    LIST(1, "matchExpressions", NODE_SELECTOR_REQUIREMENT, ""),
    LIST(2, "matchFields", NODE_SELECTOR_REQUIREMENT, ""));

TYPE_ATOMIC(TYPE_NODE_SELECTOR, CORE "NodeSelector", "",
    LIST(1, "nodeSelectorTerms", NODE_SELECTOR_TERM, "", REQUIRED, ALWAYS));

LOCAL_TYPE(PREFERRED_SCHEDULING_TERM, CORE "PreferredSchedulingTerm", "",
    INT32(1, "weight", "", REQUIRED, ALWAYS),
    STRUCT(2, "preference", NODE_SELECTOR_TERM, "", REQUIRED));

LOCAL_TYPE(NODE_AFFINITY, CORE "NodeAffinity", "",
    OBJECT(1, "requiredDuringSchedulingIgnoredDuringExecution", TYPE_NODE_SELECTOR, ""),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", PREFERRED_SCHEDULING_TERM, ""));

LOCAL_TYPE(POD_AFFINITY_TERM, CORE "PodAffinityTerm", "",
    OBJECT(1, "labelSelector", TYPE_LABEL_SELECTOR, ""),
    TEXTS(2, "namespaces", ""),
    TEXT(3, "topologyKey", "", REQUIRED, ALWAYS),
    OBJECT(4, "namespaceSelector", TYPE_LABEL_SELECTOR, ""),
    TEXTS(5, "matchLabelKeys", ""),
    TEXTS(6, "mismatchLabelKeys", ""));

LOCAL_TYPE(WEIGHTED_POD_AFFINITY_TERM, CORE "WeightedPodAffinityTerm", "",
    INT32(1, "weight", "", REQUIRED, ALWAYS),
    STRUCT(2, "podAffinityTerm", POD_AFFINITY_TERM, "", REQUIRED));

LOCAL_TYPE(POD_AFFINITY, CORE "PodAffinity", "",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM, ""),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM, ""));

LOCAL_TYPE(POD_ANTI_AFFINITY, CORE "PodAntiAffinity", "",
    LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", POD_AFFINITY_TERM, ""),
    LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", WEIGHTED_POD_AFFINITY_TERM, ""));

TYPE(TYPE_AFFINITY, CORE "Affinity", "",
    OBJECT(1, "nodeAffinity", NODE_AFFINITY, ""),
    OBJECT(2, "podAffinity", POD_AFFINITY, "", UNSUPPORTED(ONLY_NODES)),
    OBJECT(3, "podAntiAffinity", POD_ANTI_AFFINITY, "", UNSUPPORTED(ONLY_NODES)));

TYPE(TYPE_TOLERATION, CORE "Toleration", "",
    TEXT(1, "key", ""),
    TEXT(2, "operator", "", WORDS("Equal", "Exists", "Gt", "Lt")),
    TEXT(3, "value", ""),
    TEXT(4, "effect", "", WORDS("NoExecute", "NoSchedule", "PreferNoSchedule")),
    INT64(5, "tolerationSeconds", "", IF_SET));

TYPE(TYPE_TOPOLOGY_SPREAD_CONSTRAINT, CORE "TopologySpreadConstraint", "",
    INT32(1, "maxSkew", "", REQUIRED, ALWAYS),
    TEXT(2, "topologyKey", "", REQUIRED, ALWAYS),
    TEXT(3, "whenUnsatisfiable", "", REQUIRED, ALWAYS, WORDS("DoNotSchedule", "ScheduleAnyway")),
    OBJECT(4, "labelSelector", TYPE_LABEL_SELECTOR, ""),
    INT32(5, "minDomains", "", IF_SET),
    TEXT(6, "nodeAffinityPolicy", "", IF_SET, WORDS("Honor", "Ignore")),
    TEXT(7, "nodeTaintsPolicy", "", IF_SET, WORDS("Honor", "Ignore")),
    TEXTS(8, "matchLabelKeys", ""));

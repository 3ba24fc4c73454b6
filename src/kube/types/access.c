/* Roles and who has them. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POLICY_RULE, RBAC "PolicyRule", "",
    TEXTS(1, "verbs", "", REQUIRED, ALWAYS),
    TEXTS(2, "apiGroups", ""),
    TEXTS(3, "resources", ""),
    TEXTS(4, "resourceNames", ""),
    TEXTS(5, "nonResourceURLs", ""));

TYPE(TYPE_ROLE, RBAC "Role", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "", ALWAYS));

LOCAL_TYPE(AGGREGATION_RULE, RBAC "AggregationRule", "",
    LIST(1, "clusterRoleSelectors", TYPE_LABEL_SELECTOR, ""));

TYPE(TYPE_CLUSTER_ROLE, RBAC "ClusterRole", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "", ALWAYS),
    OBJECT(3, "aggregationRule", AGGREGATION_RULE, ""));

LOCAL_TYPE_ATOMIC(SUBJECT, RBAC "Subject", "",
    TEXT(1, "kind", "", REQUIRED, ALWAYS),
    TEXT(2, "apiGroup", ""),
    TEXT(3, "name", "", REQUIRED, ALWAYS),
    TEXT(4, "namespace", ""));

LOCAL_TYPE_ATOMIC(ROLE_REF, RBAC "RoleRef", "",
    TEXT(1, "apiGroup", "", ALWAYS, FALLBACK("\"rbac.authorization.k8s.io\"")),
    TEXT(2, "kind", "", REQUIRED, ALWAYS),
    TEXT(3, "name", "", REQUIRED, ALWAYS));

TYPE(TYPE_ROLE_BINDING, RBAC "RoleBinding", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT, ""),
    STRUCT(3, "roleRef", ROLE_REF, "", REQUIRED));

TYPE(TYPE_CLUSTER_ROLE_BINDING, RBAC "ClusterRoleBinding", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT, ""),
    STRUCT(3, "roleRef", ROLE_REF, "", REQUIRED));

/* Types of roles and role bindings. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POLICY_RULE, RBAC "PolicyRule", "what may be done with what",
    TEXTS(1, "verbs", "what may be done, such as get or create; * is anything", REQUIRED, ALWAYS),
    TEXTS(2, "apiGroups", "the groups of the resources; an empty name is the core"),
    TEXTS(3, "resources", "the resources, such as pods or pods/log; * is any"),
    TEXTS(4, "resourceNames", "only the objects of these names"),
    TEXTS(5, "nonResourceURLs", "paths that are no resources, such as /healthz"));

TYPE(TYPE_ROLE, RBAC "Role", "what may be done in one namespace",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "all that is allowed", ALWAYS));

LOCAL_TYPE(AGGREGATION_RULE, RBAC "AggregationRule", "a role that is the union of other roles",
    LIST(1, "clusterRoleSelectors", TYPE_LABEL_SELECTOR,
        "the labels of the roles that are included"));

TYPE(TYPE_CLUSTER_ROLE, RBAC "ClusterRole",
        "what may be done in the whole cluster, or in any one namespace",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "all that is allowed", ALWAYS),
    OBJECT(3, "aggregationRule", AGGREGATION_RULE, "the roles that its rules come from"));

LOCAL_TYPE_ATOMIC(SUBJECT, RBAC "Subject", "a user, group or service account that gets a role",
    TEXT(1, "kind", "User, Group or ServiceAccount", REQUIRED, ALWAYS),
    TEXT(2, "apiGroup", "the group of that kind"),
    TEXT(3, "name", "what he, she or it is called", REQUIRED, ALWAYS),
    TEXT(4, "namespace", "where the account is"));

LOCAL_TYPE_ATOMIC(ROLE_REF, RBAC "RoleRef", "which role is given",
    TEXT(1, "apiGroup", "the group of its kind", ALWAYS, FALLBACK("\"rbac.authorization.k8s.io\"")),
    TEXT(2, "kind", "Role or ClusterRole", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the role", REQUIRED, ALWAYS));

TYPE(TYPE_ROLE_BINDING, RBAC "RoleBinding",
        "gives a role to users, groups and service accounts in one namespace",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT, "the users, groups and service accounts that get the role"),
    STRUCT(3, "roleRef", ROLE_REF, "the role; cannot be changed", REQUIRED));

TYPE(TYPE_CLUSTER_ROLE_BINDING, RBAC "ClusterRoleBinding",
        "gives a role to users, groups and service accounts in the whole cluster",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT, "the users, groups and service accounts that get the role"),
    STRUCT(3, "roleRef", ROLE_REF, "the role; cannot be changed", REQUIRED));

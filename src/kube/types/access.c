/* Types of roles and role bindings. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POLICY_RULE, RBAC "PolicyRule", "a set of verbs that are allowed on a set of resources",
    TEXTS(1, "verbs", "the allowed verbs, such as get or create; * is every verb", REQUIRED,
        ALWAYS),
    TEXTS(2, "apiGroups", "the API groups of the resources; an empty string is the core group"),
    TEXTS(3, "resources", "the resources, such as pods or pods/log; * is every resource"),
    TEXTS(4, "resourceNames", "names of objects that the rule is limited to; default: all objects"),
    TEXTS(5, "nonResourceURLs", "URL paths outside of resources, such as /healthz"));

TYPE(TYPE_ROLE, RBAC "Role", "a set of permissions within one namespace",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "the permissions that the role grants", ALWAYS));

LOCAL_TYPE(AGGREGATION_RULE, RBAC "AggregationRule",
        "selects the ClusterRoles whose rules are combined into this one",
    LIST(1, "clusterRoleSelectors", TYPE_LABEL_SELECTOR,
        "label selectors of the ClusterRoles to combine"));

TYPE(TYPE_CLUSTER_ROLE, RBAC "ClusterRole",
        "a set of permissions that a binding grants in one namespace or in all",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "rules", POLICY_RULE, "the permissions that the role grants", ALWAYS),
    OBJECT(3, "aggregationRule", AGGREGATION_RULE,
        "selects the ClusterRoles that the rules are copied from"));

LOCAL_TYPE_ATOMIC(SUBJECT, RBAC "Subject",
        "a user, group or service account that a role is granted to",
    TEXT(1, "kind", "the kind of the subject: User, Group or ServiceAccount", REQUIRED, ALWAYS),
    TEXT(2, "apiGroup", "the API group of the subject's kind"),
    TEXT(3, "name", "the name of the user, group or service account", REQUIRED, ALWAYS),
    TEXT(4, "namespace", "the namespace of the service account"));

LOCAL_TYPE_ATOMIC(ROLE_REF, RBAC "RoleRef", "the role that a binding grants",
    TEXT(1, "apiGroup", "the API group of the role", ALWAYS,
        FALLBACK("\"rbac.authorization.k8s.io\"")),
    TEXT(2, "kind", "Role or ClusterRole", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the role", REQUIRED, ALWAYS));

TYPE(TYPE_ROLE_BINDING, RBAC "RoleBinding",
        "grants a role to users, groups and service accounts in one namespace",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT,
        "the users, groups and service accounts that the role is granted to"),
    STRUCT(3, "roleRef", ROLE_REF, "the role to grant; cannot be changed", REQUIRED));

TYPE(TYPE_CLUSTER_ROLE_BINDING, RBAC "ClusterRoleBinding",
        "grants a role to users, groups and service accounts in the whole cluster",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subjects", SUBJECT,
        "the users, groups and service accounts that the role is granted to"),
    STRUCT(3, "roleRef", ROLE_REF, "the role to grant; cannot be changed", REQUIRED));

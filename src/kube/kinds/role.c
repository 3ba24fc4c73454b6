/* Roles and role bindings: their rows, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/kind.h"
#include "kube/kinds/meta.h"

static const char GROUP[] = "rbac.authorization.k8s.io";

enum { RULES_MAX = 1000 };

static void validate_rule(struct field_errors *errors, const struct json *rule, bool namespaced,
                          const char *field)
{
    const struct json *paths = json_get(rule, "nonResourceURLs");
    if (json_count(json_get(rule, "verbs")) == 0)
        field_required(errors, field_path(errors, "%s.verbs", field),
                       "verbs must contain at least one value");
    if (json_count(paths) > 0) {
        if (namespaced)
            field_invalid(errors, field_path(errors, "%s.nonResourceURLs", field), paths,
                          "namespaced rules cannot apply to non-resource URLs");
        if (json_count(json_get(rule, "apiGroups")) || json_count(json_get(rule, "resources")) ||
            json_count(json_get(rule, "resourceNames")))
            field_invalid(errors, field_path(errors, "%s.nonResourceURLs", field), paths,
                          "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (json_count(json_get(rule, "apiGroups")) == 0)
        field_required(errors, field_path(errors, "%s.apiGroups", field),
                       "resource rules must supply at least one api group");
    if (json_count(json_get(rule, "resources")) == 0)
        field_required(errors, field_path(errors, "%s.resources", field),
                       "resource rules must supply at least one resource");
}

static void role_validate(struct field_errors *errors, const struct json *role,
                          const struct json *old)
{
    const struct json *rules = json_get(role, "rules");
    bool namespaced = str_eq(json_get_string(role, "kind", ""), "Role");
    size_t position = 0;
    if (json_count(rules) > RULES_MAX)
        field_invalid(errors, "rules", NULL, "must have at most %d items", RULES_MAX);
    JSON_EACH (rule, rules) {
        validate_rule(errors, rule, namespaced, field_path(errors, "rules[%zu]", position++));
    }
}

/* ---- Bindings -------------------------------------------------------------------------------- */

static void validate_role_ref(struct field_errors *errors, const struct json *ref, bool namespaced)
{
    static const char *const groups[] = {GROUP, NULL};
    static const char *const inside[] = {"Role", "ClusterRole", NULL};
    static const char *const outside[] = {"ClusterRole", NULL};
    const char *group = json_get_string(ref, "apiGroup", GROUP);
    const char *kind = json_get_string(ref, "kind", "");
    const char *name = json_get_string(ref, "name", "");
    if (!str_eq(group, GROUP))
        field_unsupported(errors, "roleRef.apiGroup", group, groups);
    if (!str_eq(kind, "ClusterRole") && !(namespaced && str_eq(kind, "Role")))
        field_unsupported(errors, "roleRef.kind", kind, namespaced ? inside : outside);
    if (name[0] == '\0')
        field_required(errors, "roleRef.name", NULL);
    else if (meta_name_complaint(NAME_PATH, name))
        field_invalid(errors, "roleRef.name", json_get(ref, "name"), "%s",
                      meta_name_complaint(NAME_PATH, name));
}

/* A service account without a namespace belongs to the namespace of the RoleBinding. */
static void validate_subject(struct field_errors *errors, const struct json *subject,
                             bool namespaced, const char *field)
{
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    const char *kind = json_get_string(subject, "kind", "");
    const char *name = json_get_string(subject, "name", "");
    bool account = str_eq(kind, "ServiceAccount");
    const char *group = account ? "" : GROUP;
    if (!account && !str_eq(kind, "User") && !str_eq(kind, "Group"))
        field_unsupported(errors, field_path(errors, "%s.kind", field), kind, kinds);
    else if (!str_eq(json_get_string(subject, "apiGroup", group), group))
        field_unsupported(errors, field_path(errors, "%s.apiGroup", field),
                          json_get_string(subject, "apiGroup", ""),
                          (const char *const[]){group, NULL});
    if (name[0] == '\0')
        field_required(errors, field_path(errors, "%s.name", field), NULL);
    else if (account && meta_name_complaint(NAME_SUBDOMAIN, name))
        field_invalid(errors, field_path(errors, "%s.name", field), json_get(subject, "name"), "%s",
                      meta_name_complaint(NAME_SUBDOMAIN, name));
    if (account && !namespaced && json_get_string(subject, "namespace", "")[0] == '\0')
        field_required(errors, field_path(errors, "%s.namespace", field), NULL);
}

static void binding_validate(struct field_errors *errors, const struct json *binding,
                             const struct json *old)
{
    const struct json *ref = json_get(binding, "roleRef"), *before = json_get(old, "roleRef");
    size_t position = 0;
    bool namespaced = str_eq(json_get_string(binding, "kind", ""), "RoleBinding");
    validate_role_ref(errors, ref, namespaced);
    if (before && ref && !json_equal(before, ref))
        field_invalid(errors, "roleRef", ref, "cannot change roleRef");
    JSON_EACH (subject, json_get(binding, "subjects"))
        validate_subject(errors, subject, namespaced,
                         field_path(errors, "subjects[%zu]", position++));
}

/* Fills in the apiGroup of users and groups, as Kubernetes does. */
static void binding_defaults(struct arena *arena, struct json *binding)
{
    JSON_EACH (subject, json_get(binding, "subjects")) {
        if (!json_get(subject, "apiGroup") &&
            !str_eq(json_get_string(subject, "kind", ""), "ServiceAccount"))
            json_set_string(arena, subject, "apiGroup", GROUP);
    }
}

static const struct kube_column BINDING_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Role", "The role that is granted.", table_binding_role),
    COLUMN_AGE,
    COLUMN_WIDE("Users", "Users that the role is granted to.", table_binding_users),
    COLUMN_WIDE("Groups", "Groups that the role is granted to.", table_binding_groups),
    COLUMN_WIDE("ServiceAccounts", "Service accounts that the role is granted to.",
                table_binding_accounts),
};

static const struct kube_column ROLE_COLUMNS[] = {
    COLUMN_NAME,
    {"Created At", "date", "", "When the object was created.", 0, table_created_at},
};

/* clang-format off */

KUBE_KIND(KUBE_CLUSTERROLEBINDINGS, KUBE_CLUSTERROLEBINDING_KIND, "rbac.authorization.k8s.io",
        "v1", "clusterrolebindings", "ClusterRoleBinding", CLUSTER_WIDE,
    .schema = &TYPE_CLUSTER_ROLE_BINDING,
    .singular = "clusterrolebinding",
    .verbs = VERBS_ALL,
    .name_rule = NAME_PATH,
    .columns = COLUMNS(BINDING_COLUMNS),
    .hooks = {.defaults = binding_defaults,
        .validate = binding_validate});

KUBE_KIND(KUBE_CLUSTERROLES, KUBE_CLUSTERROLE_KIND, "rbac.authorization.k8s.io", "v1",
        "clusterroles", "ClusterRole", CLUSTER_WIDE,
    .schema = &TYPE_CLUSTER_ROLE,
    .singular = "clusterrole",
    .verbs = VERBS_ALL,
    .name_rule = NAME_PATH,
    .columns = COLUMNS(ROLE_COLUMNS),
    .hooks = {.validate = role_validate});

KUBE_KIND(KUBE_ROLEBINDINGS, KUBE_ROLEBINDING_KIND, "rbac.authorization.k8s.io", "v1",
        "rolebindings", "RoleBinding", NAMESPACED,
    .schema = &TYPE_ROLE_BINDING,
    .singular = "rolebinding",
    .verbs = VERBS_ALL,
    .name_rule = NAME_PATH,
    .columns = COLUMNS(BINDING_COLUMNS),
    .hooks = {.defaults = binding_defaults,
        .validate = binding_validate});

KUBE_KIND(KUBE_ROLES, KUBE_ROLE_KIND, "rbac.authorization.k8s.io", "v1", "roles", "Role",
        NAMESPACED,
    .schema = &TYPE_ROLE,
    .singular = "role",
    .verbs = VERBS_ALL,
    .name_rule = NAME_PATH,
    .columns = COLUMNS(ROLE_COLUMNS),
    .hooks = {.validate = role_validate});

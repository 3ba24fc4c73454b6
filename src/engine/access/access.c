/* Evaluates the rules of roles and bindings; see access.h. */
#include "engine/access/access.h"

#include "kube/object.h"
#include "kube/selector.h"

#include <string.h>

/* ---- One rule -------------------------------------------------------------------------------- */

bool access_list_has(const struct json *list, const char *value)
{
    JSON_EACH (item, list) {
        if (str_eq(json_text(item), "*") || str_eq(json_text(item), value))
            return true;
    }
    return false;
}

bool access_resource_matches(const struct json *resources, const char *resource,
                             const char *subresource)
{
    size_t size = strlen(resource);
    JSON_EACH (item, resources) {
        const char *text = json_text(item);
        if (!text)
            continue;
        if (str_eq(text, "*"))
            return true;
        if (subresource[0] == '\0') {
            if (str_eq(text, resource))
                return true;
            continue;
        }
        bool same_resource = strncmp(text, "*/", 2) == 0 ||
                             (strncmp(text, resource, size) == 0 && text[size] == '/');
        if (same_resource && str_eq(strchr(text, '/') + 1, subresource))
            return true;
    }
    return false;
}

bool access_path_matches(const struct json *paths, const char *path)
{
    JSON_EACH (item, paths) {
        const char *text = json_text(item);
        size_t size = text ? strlen(text) : 0;
        if (str_eq(text, path))
            return true;
        if (size > 0 && text[size - 1] == '*' && strncmp(text, path, size - 1) == 0)
            return true;
    }
    return false;
}

static bool name_matches(const struct json *names, const char *name)
{
    if (json_count(names) == 0)
        return true;
    JSON_EACH (item, names) {
        if (name[0] && str_eq(json_text(item), name))
            return true;
    }
    return false;
}

static bool rule_allows(const struct json *rule, const struct access_question *question)
{
    if (!access_list_has(json_get(rule, "verbs"), question->verb))
        return false;
    if (question->path)
        return access_path_matches(json_get(rule, "nonResourceURLs"), question->path);
    return access_list_has(json_get(rule, "apiGroups"), question->group) &&
           access_resource_matches(json_get(rule, "resources"), question->resource,
                                   question->subresource) &&
           name_matches(json_get(rule, "resourceNames"), question->name);
}

/* ---- Which rules apply ----------------------------------------------------------------------- */

static const struct json *access_find_role(const struct access_objects *objects,
                                           const char *namespace_, const char *name)
{
    for (size_t i = 0; i < objects->count; i++)
        if (str_eq(kube_meta_name(objects->items[i]), name) &&
            str_eq(kube_meta_namespace(objects->items[i]), namespace_))
            return objects->items[i];
    return NULL;
}

static bool is_selected(struct arena *arena, const struct json *selectors, const struct json *role)
{
    JSON_EACH (item, selectors) {
        struct kube_selector selector;
        if (kube_selector_from_json(arena, item, &selector, NULL) == 0 &&
            kube_selector_matches(&selector, kube_meta_labels(role)))
            return true;
    }
    return false;
}

/* Returns the role's own rules and the rules of all ClusterRoles that its aggregationRule
 * selects. */
static const struct json *access_gather_rules(struct arena *arena,
                                              const struct access_policy *policy,
                                              const struct json *role)
{
    const struct json *selectors = json_at(role, "aggregationRule", "clusterRoleSelectors", NULL);
    const struct json *own = json_get(role, "rules");
    struct json *rules = json_array(arena);
    if (json_count(selectors) == 0)
        return own ? own : rules;
    JSON_EACH (rule, own) {
        json_append(rules, json_clone(arena, rule));
    }
    for (size_t i = 0; i < policy->cluster_roles.count; i++) {
        const struct json *other = policy->cluster_roles.items[i];
        if (other == role || !is_selected(arena, selectors, other))
            continue;
        JSON_EACH (rule, json_get(other, "rules")) {
            json_append(rules, json_clone(arena, rule));
        }
    }
    return rules;
}

const struct json *access_role_rules(struct arena *arena, const struct access_policy *policy,
                                     const struct json *role_ref, const char *namespace_)
{
    const char *name = json_get_string(role_ref, "name", "");
    bool cluster = str_eq(json_get_string(role_ref, "kind", ""), "ClusterRole");
    const struct json *role = cluster ? access_find_role(&policy->cluster_roles, "", name)
                                      : access_find_role(&policy->roles, namespace_, name);
    return role ? access_gather_rules(arena, policy, role) : NULL;
}

/* Returns whether the subject of a binding in `namespace_` is the identity or a group of it. */
static bool is_subject(const struct json *subject, const char *namespace_,
                       const struct identity *identity)
{
    static const char account[] = "system:serviceaccount:";
    const char *kind = json_get_string(subject, "kind", "");
    const char *name = json_get_string(subject, "name", "");
    if (str_eq(kind, "User"))
        return str_eq(identity->name, name);
    if (str_eq(kind, "Group"))
        return identity_is_in(identity, name);
    if (!str_eq(kind, "ServiceAccount") || !str_has_prefix(identity->name, account))
        return false;
    const char *subject_namespace = json_get_string(subject, "namespace", namespace_);
    const char *rest = identity->name + strlen(account);
    size_t size = strlen(subject_namespace);
    return size > 0 && strncmp(rest, subject_namespace, size) == 0 && rest[size] == ':' &&
           str_eq(rest + size + 1, name);
}

/* Returns the first subject of the binding that is the identity, or NULL. */
static const struct json *subject_of(const struct json *binding, const struct identity *identity)
{
    JSON_EACH (subject, json_get(binding, "subjects")) {
        if (is_subject(subject, kube_meta_namespace(binding), identity))
            return subject;
    }
    return NULL;
}

struct visitor {
    struct arena *arena;
    const struct access_policy *policy;
    const struct identity *identity;
    bool (*visit)(void *context, const struct access_grant *grant);
    void *context;
};

static bool visit_binding(const struct visitor *visitor, const struct json *binding)
{
    struct access_grant grant = {.binding = binding,
                                 .subject = subject_of(binding, visitor->identity)};
    if (!grant.subject)
        return false;
    const struct json *rules =
        access_role_rules(visitor->arena, visitor->policy, json_get(binding, "roleRef"),
                          kube_meta_namespace(binding));
    if (!rules)
        return visitor->visit(visitor->context, &grant);
    JSON_EACH (rule, rules) {
        grant.rule = rule;
        if (visitor->visit(visitor->context, &grant))
            return true;
    }
    return false;
}

bool access_each_rule(struct arena *arena, const struct access_policy *policy,
                      const struct identity *identity, const char *namespace_,
                      bool (*visit)(void *context, const struct access_grant *grant), void *context)
{
    const struct visitor visitor = {arena, policy, identity, visit, context};
    for (size_t i = 0; i < policy->cluster_bindings.count; i++)
        if (visit_binding(&visitor, policy->cluster_bindings.items[i]))
            return true;
    for (size_t i = 0; namespace_[0] && i < policy->bindings.count; i++)
        if (str_eq(kube_meta_namespace(policy->bindings.items[i]), namespace_) &&
            visit_binding(&visitor, policy->bindings.items[i]))
            return true;
    return false;
}

/* ---- The answer ------------------------------------------------------------------------------ */

struct decision {
    struct arena *arena;
    const struct access_question *question;
    struct access_answer answer;
};

static const char *missing_text(struct arena *arena, const struct json *binding)
{
    const struct json *ref = json_get(binding, "roleRef");
    bool cluster = str_eq(json_get_string(ref, "kind", ""), "ClusterRole");
    return arena_printf(arena, "RBAC: %s.rbac.authorization.k8s.io \"%s\" not found",
                        cluster ? "clusterrole" : "role", json_get_string(ref, "name", ""));
}

static const char *allowed_text(struct arena *arena, const struct access_grant *grant)
{
    const struct json *ref = json_get(grant->binding, "roleRef");
    const char *namespace_ = kube_meta_namespace(grant->binding);
    const char *kind = json_get_string(grant->subject, "kind", "");
    const char *place = json_get_string(grant->subject, "namespace", "");
    bool account = str_eq(kind, "ServiceAccount");
    return arena_printf(arena, "RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to %s \"%s%s%s\"",
                        namespace_[0] ? "RoleBinding" : "ClusterRoleBinding",
                        kube_meta_name(grant->binding), namespace_[0] ? "/" : "", namespace_,
                        json_get_string(ref, "kind", ""), json_get_string(ref, "name", ""), kind,
                        json_get_string(grant->subject, "name", ""), account ? "/" : "",
                        account ? place : "");
}

static bool access_decide_by_rule(void *context, const struct access_grant *grant)
{
    struct decision *decision = context;
    if (!grant->rule) {
        if (decision->answer.reason[0] == '\0')
            decision->answer.reason = missing_text(decision->arena, grant->binding);
        return false;
    }
    if (!rule_allows(grant->rule, decision->question))
        return false;
    decision->answer =
        (struct access_answer){.allowed = true, .reason = allowed_text(decision->arena, grant)};
    return true;
}

struct access_answer access_decide(struct arena *arena, const struct access_policy *policy,
                                   const struct identity *identity,
                                   const struct access_question *question)
{
    struct decision decision = {arena, question, {.reason = ""}};
    if (identity_is_master(identity))
        return (struct access_answer){.allowed = true, .reason = ""};
    access_each_rule(arena, policy, identity, question->path ? "" : question->namespace_,
                     access_decide_by_rule, &decision);
    return decision.answer;
}

char *access_forbidden_message(struct arena *arena, const struct identity *identity,
                               const struct access_question *question, const char *reason)
{
    const char *colon = reason[0] ? ": " : "";
    if (question->path)
        return arena_printf(arena, "forbidden: User \"%s\" cannot %s path \"%s\"%s%s",
                            identity->name, question->verb, question->path, colon, reason);
    bool named = question->name[0], inside = question->namespace_[0];
    const char *what =
        arena_printf(arena, "%s%s%s%s%s%s", question->resource, question->group[0] ? "." : "",
                     question->group, named ? " \"" : "", question->name, named ? "\"" : "");
    const char *place = inside
                            ? arena_printf(arena, "in the namespace \"%s\"", question->namespace_)
                            : "at the cluster scope";
    return arena_printf(arena,
                        "%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group "
                        "\"%s\" %s%s%s",
                        what, identity->name, question->verb, question->resource,
                        question->subresource[0] ? "/" : "", question->subresource, question->group,
                        place, colon, reason);
}

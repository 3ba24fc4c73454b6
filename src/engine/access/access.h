/* Authorization: evaluates Role, ClusterRole and their bindings as Kubernetes does. Pure: the input
 * is an identity, a question and the stored roles and bindings; the output is an answer with a
 * reason. A rule can only allow. A request that no rule allows is denied, unless the user is in
 * system:masters. engine/api/access.c, engine/api/review.c and impersonation.c call these
 * functions. */
#ifndef TRAINYARD_ENGINE_ACCESS_ACCESS_H
#define TRAINYARD_ENGINE_ACCESS_ACCESS_H

#include "base/json/json.h"
#include "engine/access/identity.h"

/* A request to authorize, about a path or about a resource. If `path` is not NULL, only `verb` and
 * `path` are used. */
struct access_question {
    const char *verb;        /* "get", "deletecollection" */
    const char *path;        /* "/version": a path that is not a resource; NULL: a resource */
    const char *group;       /* "": the core group */
    const char *resource;    /* "pods" */
    const char *subresource; /* "log", or "" */
    const char *namespace_;  /* "": cluster-wide, or all namespaces */
    const char *name;        /* "": the request is not about one object, for example a list */
};

/* The stored objects of one kind. */
struct access_objects {
    const struct json *const *items;
    size_t count;
};
/* All roles and bindings of the cluster. */
struct access_policy {
    struct access_objects cluster_roles, cluster_bindings, roles, bindings;
};

struct access_answer {
    bool allowed;
    /* If allowed: "RBAC: allowed by …", or "" for system:masters. If denied: "RBAC: … not found"
     * if a binding of the user names a missing role, otherwise "". */
    const char *reason;
};

/* Decides whether the user may send the request. The reason is in the arena or is a constant. */
struct access_answer access_decide(struct arena *arena, const struct access_policy *policy,
                                   const struct identity *identity,
                                   const struct access_question *question);

/* Returns Kubernetes' message for a denied request: `pods is forbidden: User "x" cannot list
 * resource "pods" in API group "" …`. `reason` is that of the answer. */
char *access_forbidden_message(struct arena *arena, const struct identity *identity,
                               const struct access_question *question, const char *reason);

/* A rule that applies, and the binding and subject through which it applies. */
struct access_grant {
    const struct json *rule; /* NULL: the binding names a role that does not exist */
    const struct json *binding, *subject;
};
/* Calls `visit` for every rule that a ClusterRoleBinding, or a RoleBinding in the namespace, gives
 * to the identity. If `namespace_` is "", ignores RoleBindings. Also calls `visit` once for each
 * binding of the identity whose role does not exist. Stops when `visit` returns true. Returns
 * whether a call of `visit` returned true. */
bool access_each_rule(struct arena *arena, const struct access_policy *policy,
                      const struct identity *identity, const char *namespace_,
                      bool (*visit)(void *context, const struct access_grant *grant),
                      void *context);

/* Returns the rules of the role that a binding in `namespace_` refers to by `role_ref`, and the
 * rules of the ClusterRoles that the role's aggregationRule selects. Returns NULL if the role does
 * not exist. */
const struct json *access_role_rules(struct arena *arena, const struct access_policy *policy,
                                     const struct json *role_ref, const char *namespace_);

/* ---- cover.c: checks that a user does not grant more than it has */

/* Returns the rules of the list `rules` that the identity does not have in the namespace, one per
 * line in Kubernetes' notation. The text has at most 64 KiB; the parts that do not fit are left
 * out. Returns NULL if the identity has all of the rules or is in system:masters. */
char *access_missing_rules(struct arena *arena, const struct access_policy *policy,
                           const struct identity *identity, const char *namespace_,
                           const struct json *rules);
/* Returns the strings of the NULL-terminated list as `["a" "b"]`. */
char *access_list_text(struct arena *arena, const char *const *list);

/* ---- The lists of a rule, such as `verbs`. A list may be NULL. */

/* Returns whether the list has the value or "*". */
bool access_list_has(const struct json *list, const char *value);
/* Returns whether the list has the resource, or the subresource if it is not "". An element of the
 * list is "pods", "pods/log" or "*" for everything. A star followed by "/scale" is the subresource
 * "scale" of every resource. */
bool access_resource_matches(const struct json *resources, const char *resource,
                             const char *subresource);
/* Returns whether the list has the path, or a prefix of the path followed by "*". */
bool access_path_matches(const struct json *paths, const char *path);

#endif

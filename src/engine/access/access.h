/* What who may do: the rules of Role, ClusterRole and their bindings, evaluated as Kubernetes does.
 * Pure: identity, question and objects in, an answer with its reason out. There are only rules that
 * allow; what no rule allows is refused. */
#ifndef TRAINYARD_ENGINE_ACCESS_H
#define TRAINYARD_ENGINE_ACCESS_H

#include "base/json/json.h"
#include "engine/access/identity.h"

struct access_question {
    const char *verb;        /* "get", "deletecollection" */
    const char *path;        /* of what is no resource, "/version"; else NULL */
    const char *group;       /* "" for core */
    const char *resource;    /* "pods" */
    const char *subresource; /* "log", or "" */
    const char *namespace_;  /* "": cluster-wide, or across namespaces */
    const char *name;        /* "": any */
};

/* The four kinds as they are stored. */
struct access_objects {
    const struct json *const *items;
    size_t count;
};
struct access_policy {
    struct access_objects cluster_roles, cluster_bindings, roles, bindings;
};

struct access_answer {
    bool allowed;
    const char *reason; /* `RBAC: allowed by …`; why not where there is more to say; or "" */
};

struct access_answer access_decide(struct arena *arena, const struct access_policy *policy,
                                   const struct identity *identity,
                                   const struct access_question *question);

/* `pods is forbidden: User "x" cannot list resource "pods" in API group "" …`, as Kubernetes. */
char *access_forbidden_message(struct arena *arena, const struct identity *identity,
                               const struct access_question *question, const char *reason);

/* One rule that applies, and through which binding and subject. */
struct access_grant {
    const struct json *rule; /* NULL: the binding names a role that is not there */
    const struct json *binding, *subject;
};
/* Visit every rule that applies to the identity in the namespace ("": cluster-wide ones only),
 * until `visit` returns true; then this does, too. */
bool access_each_rule(struct arena *arena, const struct access_policy *policy,
                      const struct identity *identity, const char *namespace_,
                      bool (*visit)(void *context, const struct access_grant *grant),
                      void *context);

/* The rules of the role a binding in `namespace_` refers to; NULL if it is not there. What
 * aggregationRule selects counts as the role's own. */
const struct json *access_role_rules(struct arena *arena, const struct access_policy *policy,
                                     const struct json *role_ref, const char *namespace_);

/* ---- access_cover.c: nobody gives what he has not */

/* Of `rules` (a list) those that the identity does not have itself in the namespace, one a line as
 * Kubernetes writes them; NULL if he has them all. */
char *access_missing_rules(struct arena *arena, const struct access_policy *policy,
                           const struct identity *identity, const char *namespace_,
                           const struct json *rules);
/* `["a" "b"]` */
char *access_list_text(struct arena *arena, const char *const *list);

/* ---- how a rule's lists match; "*" stands for everything */
bool access_list_has(const struct json *list, const char *value);
bool access_resource_matches(const struct json *resources, const char *resource,
                             const char *subresource);
bool access_path_matches(const struct json *paths, const char *path);

#endif

/* The authorization of requests: turns a request into a question for engine/access/access.h. Also
 * has the hooks that reject a role or binding that grants more than its writer has; see handlers.h.
 */
#include "base/mem.h"
#include "base/str.h"
#include "engine/access/cache.h"
#include "engine/api/handlers.h"
#include "kube/object.h"

#include <ctype.h>
#include <string.h>

static const char RBAC[] = "rbac.authorization.k8s.io";

/* Returns the name of the request's subresource, or "". */
static const char *sub_name(const struct route *route)
{
    const struct kube_subresource *sub = route->resource->subresources;
    for (; sub && sub->id != SUB_NONE; sub++)
        if (sub->id == route->sub)
            return sub->name;
    return "";
}

/* Returns the name of the object, or the only name that the field selector of a list or watch
 * allows, or "". */
static const char *access_name_of(struct api_call *call)
{
    struct api_filter filter;
    if (call->route.name)
        return call->route.name;
    if ((call->route.verb == VERB_LIST || call->route.verb == VERB_WATCH) &&
        api_filter_of(call, &filter, NULL) == 0 && filter.name)
        return filter.name;
    return "";
}

bool api_is_allowed(struct api_call *call)
{
    const struct route *route = &call->route;
    const struct kube_resource *id = &route->resource->id;
    if (identity_is_master(call->identity))
        return true;
    struct access_question question = {
        .verb = kube_verb_name(route->verb),
        .group = id->group,
        .resource = id->plural,
        .subresource = sub_name(route),
        .namespace_ = route->namespace_,
        .name = access_name_of(call),
    };
    /* As in Kubernetes, a namespace counts as an object in the namespace itself. So a Role in the
     * namespace can allow reading the namespace. */
    if (id->group[0] == '\0' && str_eq(id->plural, "namespaces") && route->name)
        question.namespace_ = route->name;
    struct access_answer answer =
        access_decide(call->arena, engine_policy(call->engine), call->identity, &question);
    if (answer.allowed)
        return true;
    struct err err = ERR_INIT;
    err_set(&err, ERR_FORBIDDEN, "%s",
            access_forbidden_message(call->arena, call->identity, &question, answer.reason));
    api_respond_error(call, &err);
    return false;
}

int api_check_path(struct engine *engine, struct arena *arena, const struct identity *identity,
                   const struct http_request *request, struct err *err)
{
    char *verb = arena_strdup(arena, request->method);
    for (char *c = verb; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct access_question question = {.verb = verb, .path = request->path};
    struct access_answer answer = access_decide(arena, engine_policy(engine), identity, &question);
    return answer.allowed
               ? 0
               : err_set(err, ERR_FORBIDDEN, "%s",
                         access_forbidden_message(arena, identity, &question, answer.reason));
}

/* ---- Privilege escalation -------------------------------------------------------------------- */

/* Returns whether the roles of the user allow the verb ("escalate" or "bind") on a role. The user
 * may then grant permissions that the user does not have. */
static bool access_may_grant(struct api_call *call, const char *verb, const char *resource,
                             const char *namespace_, const char *name)
{
    const struct access_question question = {.verb = verb,
                                             .group = RBAC,
                                             .resource = resource,
                                             .subresource = "",
                                             .namespace_ = namespace_,
                                             .name = name};
    return access_decide(call->arena, engine_policy(call->engine), call->identity, &question)
        .allowed;
}

/* Returns -ERR_FORBIDDEN if the user lacks one of the rules. */
static int check_held(struct api_call *call, const struct json *object, const struct json *rules,
                      struct err *err)
{
    const char *missing = access_missing_rules(call->arena, engine_policy(call->engine),
                                               call->identity, kube_meta_namespace(object), rules);
    if (!missing)
        return 0;
    return err_set(err, ERR_FORBIDDEN,
                   "%s \"%s\" is forbidden: user \"%s\" (groups=%s) is attempting to grant RBAC "
                   "permissions not currently held:\n%s",
                   kube_resource_text(call->arena, &call->route.resource->id),
                   kube_meta_name(object), call->identity->name,
                   access_list_text(call->arena, call->identity->groups), missing);
}

static bool access_is_same_list(const struct json *a, const struct json *b)
{
    return a == b || (a && b && json_equal(a, b));
}

/* Returns a list with one rule that allows everything on all resources. */
static const struct json *access_all_rules(struct arena *arena)
{
    static const char *const members[] = {"verbs", "apiGroups", "resources"};
    struct json *rules = json_array(arena), *rule = json_object(arena);
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        json_append(json_ensure_array(arena, rule, members[i]), json_string(arena, "*"));
    json_append(rules, rule);
    return rules;
}

int api_admit_role(struct api_call *call, struct json *role, const struct json *old,
                   struct err *err)
{
    const char *plural = call->route.resource->id.plural;
    const struct json *rules = json_get(role, "rules"),
                      *aggregation = json_get(role, "aggregationRule");
    if (identity_is_master(call->identity) ||
        access_may_grant(call, "escalate", plural, kube_meta_namespace(role), kube_meta_name(role)))
        return 0;
    /* The roles that an aggregationRule selects may get any rules later, so the writer of an
     * aggregationRule needs all permissions on resources. */
    if (aggregation && !(old && access_is_same_list(aggregation, json_get(old, "aggregationRule"))))
        return check_held(call, role, access_all_rules(call->arena), err);
    if (old && access_is_same_list(rules, json_get(old, "rules")))
        return 0;
    return check_held(call, role, rules, err);
}

int api_admit_binding(struct api_call *call, struct json *binding, const struct json *old,
                      struct err *err)
{
    const struct json *ref = json_get(binding, "roleRef");
    const char *namespace_ = kube_meta_namespace(binding);
    const char *name = json_get_string(ref, "name", "");
    bool cluster = str_eq(json_get_string(ref, "kind", ""), "ClusterRole");
    if (identity_is_master(call->identity) ||
        access_may_grant(call, "bind", cluster ? "clusterroles" : "roles", namespace_, name))
        return 0;
    if (old && access_is_same_list(json_get(binding, "subjects"), json_get(old, "subjects")))
        return 0;
    const struct json *rules =
        access_role_rules(call->arena, engine_policy(call->engine), ref, namespace_);
    if (!rules)
        return err_set(err, ERR_NOT_FOUND, "%s.%s \"%.253s\" not found",
                       cluster ? "clusterroles" : "roles", RBAC, name);
    return check_held(call, binding, rules, err);
}

/* May who asks do what he asks: the question a routed request stands for, put to access.h. Also
 * what a write of roles and bindings may not do: give away more than one has. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/access/cache.h"
#include "engine/api/rest.h"
#include "kube/object.h"

#include <ctype.h>
#include <string.h>

static const char RBAC[] = "rbac.authorization.k8s.io";

static const char *sub_name(const struct route *route)
{
    const struct kube_subresource *sub = route->resource->subresources;
    for (; sub && sub->id != SUB_NONE; sub++)
        if (sub->id == route->sub)
            return sub->name;
    return "";
}

/* A list or watch that a field selector narrows to one name is a question about that one. */
static const char *one_name(struct rest *rest)
{
    struct rest_filter filter;
    if (rest->route.name)
        return rest->route.name;
    if ((rest->route.verb == VERB_LIST || rest->route.verb == VERB_WATCH) &&
        rest_filter_of(rest, &filter, NULL) == 0 && filter.name)
        return filter.name;
    return "";
}

bool rest_is_allowed(struct rest *rest)
{
    const struct route *route = &rest->route;
    const struct kube_resource *id = &route->resource->id;
    if (identity_is_master(rest->identity))
        return true;
    struct access_question question = {
        .verb = kube_verb_name(route->verb),
        .group = id->group,
        .resource = id->plural,
        .subresource = sub_name(route),
        .namespace_ = route->namespace_,
        .name = one_name(rest),
    };
    /* A namespace lies in itself, so that a role in it can let one look at it. */
    if (id->group[0] == '\0' && str_eq(id->plural, "namespaces") && route->name)
        question.namespace_ = route->name;
    struct access_answer answer =
        access_decide(rest->arena, engine_policy(rest->engine), rest->identity, &question);
    if (answer.allowed)
        return true;
    struct err err = ERR_INIT;
    err_set(&err, ERR_FORBIDDEN, "%s",
            access_refusal(rest->arena, rest->identity, &question, answer.reason));
    rest_respond_error(rest, &err);
    return false;
}

int rest_check_path(struct engine *engine, struct arena *arena, const struct identity *identity,
                    const struct http_request *request, struct err *err)
{
    char *verb = arena_strdup(arena, request->method);
    for (char *c = verb; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct access_question question = {.verb = verb, .path = request->path};
    struct access_answer answer = access_decide(arena, engine_policy(engine), identity, &question);
    return answer.allowed ? 0
                          : err_set(err, ERR_FORBIDDEN, "%s",
                                    access_refusal(arena, identity, &question, answer.reason));
}

/* ---- Nobody gives what he has not ------------------------------------------------------------ */

static bool may(struct rest *rest, const char *verb, const char *resource, const char *namespace_,
                const char *name)
{
    const struct access_question question = {.verb = verb,
                                             .group = RBAC,
                                             .resource = resource,
                                             .subresource = "",
                                             .namespace_ = namespace_,
                                             .name = name};
    return access_decide(rest->arena, engine_policy(rest->engine), rest->identity, &question)
        .allowed;
}

static int check_held(struct rest *rest, const struct json *object, const struct json *rules,
                      struct err *err)
{
    const char *missing = access_uncovered(rest->arena, engine_policy(rest->engine), rest->identity,
                                           kube_meta_namespace(object), rules);
    if (!missing)
        return 0;
    return err_set(err, ERR_FORBIDDEN,
                   "%s \"%s\" is forbidden: user \"%s\" (groups=%s) is attempting to grant RBAC "
                   "permissions not currently held:\n%s",
                   kube_resource_text(rest->arena, &rest->route.resource->id),
                   kube_meta_name(object), rest->identity->name,
                   access_list_text(rest->arena, rest->identity->groups), missing);
}

static bool is_same(const struct json *a, const struct json *b)
{
    return a == b || (a && b && json_equal(a, b));
}

static const struct json *everything(struct arena *arena)
{
    static const char *const members[] = {"verbs", "apiGroups", "resources"};
    struct json *rules = json_array(arena), *rule = json_object(arena);
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        json_append(json_ensure_array(arena, rule, members[i]), json_string(arena, "*"));
    json_append(rules, rule);
    return rules;
}

int rest_admit_role(struct rest *rest, struct json *role, const struct json *old, struct err *err)
{
    const char *plural = rest->route.resource->id.plural;
    const struct json *rules = json_get(role, "rules"),
                      *gathered = json_get(role, "aggregationRule");
    if (identity_is_master(rest->identity) ||
        may(rest, "escalate", plural, kube_meta_namespace(role), kube_meta_name(role)))
        return 0;
    /* What it gathers may become anything later. */
    if (gathered && !(old && is_same(gathered, json_get(old, "aggregationRule"))))
        return check_held(rest, role, everything(rest->arena), err);
    if (old && is_same(rules, json_get(old, "rules")))
        return 0;
    return check_held(rest, role, rules, err);
}

int rest_admit_binding(struct rest *rest, struct json *binding, const struct json *old,
                       struct err *err)
{
    const struct json *ref = json_get(binding, "roleRef");
    const char *namespace_ = kube_meta_namespace(binding);
    const char *name = json_get_string(ref, "name", "");
    bool cluster = str_eq(json_get_string(ref, "kind", ""), "ClusterRole");
    if (identity_is_master(rest->identity) ||
        may(rest, "bind", cluster ? "clusterroles" : "roles", namespace_, name))
        return 0;
    if (old && is_same(json_get(binding, "subjects"), json_get(old, "subjects")))
        return 0;
    const struct json *rules =
        access_role_rules(rest->arena, engine_policy(rest->engine), ref, namespace_);
    if (!rules)
        return err_set(err, ERR_NOT_FOUND, "%s.%s \"%.253s\" not found",
                       cluster ? "clusterroles" : "roles", RBAC, name);
    return check_held(rest, binding, rules, err);
}

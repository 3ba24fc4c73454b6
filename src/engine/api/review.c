/* Handles the creation of reviews. A review asks a question about its sender and is never stored:
 * `kubectl auth can-i` (one permission), `kubectl auth can-i --list` (all permissions) and `kubectl
 * auth whoami` (the identity). */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"

/* ---- Self reviews of access ------------------------------------------------------------------ */

static int read_question(const struct json *spec, struct access_question *ret, struct err *err)
{
    const struct json *resource = json_get(spec, "resourceAttributes");
    const struct json *path = json_get(spec, "nonResourceAttributes");
    if (!resource == !path)
        return err_set(err, ERR_INVALID,
                       "exactly one of spec.resourceAttributes and spec.nonResourceAttributes must "
                       "be specified");
    *ret = (struct access_question){
        .verb = json_get_string(resource ? resource : path, "verb", ""),
        .path = path ? json_get_string(path, "path", "") : NULL,
        .group = json_get_string(resource, "group", ""),
        .resource = json_get_string(resource, "resource", ""),
        .subresource = json_get_string(resource, "subresource", ""),
        .namespace_ = json_get_string(resource, "namespace", ""),
        .name = json_get_string(resource, "name", ""),
    };
    return 0;
}

static int review_access(struct api_call *call, const struct json *review, struct json *status,
                         struct err *err)
{
    struct access_question question;
    int result = read_question(json_get(review, "spec"), &question, err);
    if (result < 0)
        return result;
    struct access_answer answer =
        access_decide(call->arena, engine_policy(call->engine), call->identity, &question);
    json_set_bool(call->arena, status, "allowed", answer.allowed);
    if (answer.reason[0])
        json_set_string(call->arena, status, "reason", answer.reason);
    return 0;
}

/* ---- Self reviews of rules ------------------------------------------------------------------- */

/* The rules of the user. */
struct listing {
    struct arena *arena;
    struct json *resources, *paths;
};

/* Copies a list of the rule to `target`, unless it is empty. */
static void review_copy_list(struct arena *arena, struct json *target, const struct json *rule,
                             const char *member)
{
    const struct json *list = json_get(rule, member);
    if (json_count(list) > 0)
        json_set(arena, target, member, json_clone(arena, list));
}

static bool list_rule(void *context, const struct access_grant *grant)
{
    static const char *const members[] = {"verbs", "apiGroups", "resources", "resourceNames"};
    struct listing *listing = context;
    struct json *rule = json_object(listing->arena);
    if (!grant->rule)
        return false;
    if (json_count(json_get(grant->rule, "nonResourceURLs")) > 0) {
        review_copy_list(listing->arena, rule, grant->rule, "verbs");
        review_copy_list(listing->arena, rule, grant->rule, "nonResourceURLs");
        json_append(listing->paths, rule);
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        review_copy_list(listing->arena, rule, grant->rule, members[i]);
    json_append(listing->resources, rule);
    return false;
}

static int review_rules(struct api_call *call, const struct json *review, struct json *status,
                        struct err *err)
{
    const char *namespace_ = json_get_string(json_get(review, "spec"), "namespace", "");
    if (namespace_[0] == '\0')
        return err_set(err, ERR_BAD_REQUEST, "no namespace on request");
    struct listing listing = {call->arena, json_ensure_array(call->arena, status, "resourceRules"),
                              json_ensure_array(call->arena, status, "nonResourceRules")};
    json_set_bool(call->arena, status, "incomplete", false);
    access_each_rule(call->arena, engine_policy(call->engine), call->identity, namespace_,
                     list_rule, &listing);
    return 0;
}

/* ---- Self subject review --------------------------------------------------------------------- */

static void add_extra(struct arena *arena, struct json *user, const char *key, const char *value)
{
    if (value)
        json_append(json_ensure_array(arena, json_ensure_object(arena, user, "extra"), key),
                    json_string(arena, value));
}

static int review_self(struct api_call *call, const struct json *review, struct json *status,
                       struct err *err)
{
    const struct identity *identity = call->identity;
    struct json *user = json_ensure_object(call->arena, status, "userInfo");
    json_set_string(call->arena, user, "username", identity->name);
    if (identity->uid)
        json_set_string(call->arena, user, "uid", identity->uid);
    if (identity->extra)
        json_set(call->arena, user, "extra", json_clone(call->arena, identity->extra));
    struct json *groups = json_ensure_array(call->arena, user, "groups");
    for (const char *const *group = identity->groups; group && *group; group++)
        json_append(groups, json_string(call->arena, *group));
    add_extra(call->arena, user, "authentication.kubernetes.io/pod-name", identity->pod);
    add_extra(call->arena, user, "authentication.kubernetes.io/pod-uid", identity->pod_uid);
    return 0;
}

static const struct {
    const char *kind;
    int (*answer)(struct api_call *call, const struct json *review, struct json *status,
                  struct err *err);
} REVIEWS[] = {
    {"SelfSubjectAccessReview", review_access},
    {"SelfSubjectReview", review_self},
    {"SelfSubjectRulesReview", review_rules},
};

void api_handle_review(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *review, *status = json_object(call->arena);
    int result = api_read_body(call, &review, &err);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(REVIEWS); i++)
        if (str_eq(REVIEWS[i].kind, call->route.resource->id.kind))
            result = REVIEWS[i].answer(call, review, status, &err);
    if (result < 0) {
        api_respond_error(call, &err);
        return;
    }
    json_ensure_object(call->arena, review, "metadata");
    json_set(call->arena, review, "status", status);
    api_respond_json(call, 201, review);
}

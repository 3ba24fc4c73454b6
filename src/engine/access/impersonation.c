/* Checks the Impersonate-… headers and makes the impersonated identity; see impersonation.h. */
#include "engine/access/impersonation.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char PREFIX[] = "Impersonate-", USER[] = "Impersonate-User",
                  GROUP[] = "Impersonate-Group", UID[] = "Impersonate-Uid",
                  EXTRA[] = "Impersonate-Extra-";
static const char ACCOUNT[] = "system:serviceaccount:", AUTHENTICATED[] = "system:authenticated",
                  UNAUTHENTICATED[] = "system:unauthenticated";

static bool impersonation_is_header(const char *name, const char *prefix)
{
    return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

const char *impersonation_header(const struct http_header *headers)
{
    for (; headers; headers = headers->next)
        if (impersonation_is_header(headers->name, PREFIX))
            return headers->name;
    return NULL;
}

/* ---- Authorization --------------------------------------------------------------------------- */

struct impersonation {
    struct arena *arena;
    const struct access_policy *policy;
    const struct identity *sender;
};

/* Returns -ERR_FORBIDDEN if the roles do not allow the verb "impersonate" on the resource that the
 * question names. */
static int impersonation_check(const struct impersonation *impersonation,
                               struct access_question question, struct err *err)
{
    question.verb = "impersonate";
    struct access_answer answer = access_decide(impersonation->arena, impersonation->policy,
                                                impersonation->sender, &question);
    if (answer.allowed)
        return 0;
    return err_set(err, ERR_FORBIDDEN, "%s",
                   access_forbidden_message(impersonation->arena, impersonation->sender, &question,
                                            answer.reason));
}

/* For the user "system:serviceaccount:NAMESPACE:NAME", returns the namespace and sets *ret_name.
 * Returns NULL for any other user. */
static const char *account_namespace(struct arena *arena, const char *user, const char **ret_name)
{
    const char *namespace_ = user + strlen(ACCOUNT);
    if (!str_has_prefix(user, ACCOUNT))
        return NULL;
    const char *colon = strchr(namespace_, ':');
    if (!colon || colon == namespace_ || colon[1] == '\0' || strchr(colon + 1, ':'))
        return NULL;
    *ret_name = colon + 1;
    return arena_strndup(arena, namespace_, (size_t)(colon - namespace_));
}

static int check_user(const struct impersonation *impersonation, const char *user, struct err *err)
{
    struct access_question question = {
        .group = "", .resource = "users", .subresource = "", .namespace_ = "", .name = user};
    const char *name;
    const char *namespace_ = account_namespace(impersonation->arena, user, &name);
    if (namespace_) {
        question.resource = "serviceaccounts";
        question.namespace_ = namespace_;
        question.name = name;
    }
    return impersonation_check(impersonation, question, err);
}

/* Returns the key of an extra attribute: the part of the header's name after
 * "Impersonate-Extra-", with percent escapes decoded, in lower case. */
static char *extra_key(struct arena *arena, const char *header)
{
    const char *escaped = header + strlen(EXTRA);
    char *key = http_percent_decode(arena, escaped, strlen(escaped), false);
    for (char *c = key; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return key;
}

/* Returns -ERR_FORBIDDEN if the roles do not allow impersonating the user, group or attribute that
 * the header names. */
static int check_header(const struct impersonation *impersonation, const struct http_header *header,
                        struct err *err)
{
    static const char authentication[] = "authentication.k8s.io";
    struct access_question question = {
        .group = "", .subresource = "", .namespace_ = "", .name = header->value};
    if (str_eq_nocase(header->name, USER))
        return check_user(impersonation, header->value, err);
    if (str_eq_nocase(header->name, GROUP)) {
        question.resource = "groups";
    } else if (str_eq_nocase(header->name, UID)) {
        question.group = authentication;
        question.resource = "uids";
    } else if (impersonation_is_header(header->name, EXTRA)) {
        question.group = authentication;
        question.resource = "userextras";
        question.subresource = extra_key(impersonation->arena, header->name);
    } else {
        return 0;
    }
    return impersonation_check(impersonation, question, err);
}

/* ---- The impersonated identity --------------------------------------------------------------- */

/* Returns the groups that the headers name. If they name none, a service account gets its own
 * groups. Every user is also in system:authenticated or system:unauthenticated. */
static const char *const *groups_of(struct arena *arena, const struct identity *named,
                                    const struct http_header *headers)
{
    size_t count = 0;
    for (const struct http_header *header = headers; header; header = header->next)
        count += str_eq_nocase(header->name, GROUP);
    const char **groups = ARENA_ARRAY(arena, const char *, count + 4);
    struct identity probe = {.groups = groups};
    size_t used = 0;
    for (; headers; headers = headers->next)
        if (str_eq_nocase(headers->name, GROUP))
            groups[used++] = headers->value;
    const char *name, *namespace_ = account_namespace(arena, named->name, &name);
    if (namespace_ && count == 0) {
        groups[used++] = "system:serviceaccounts";
        groups[used++] = arena_printf(arena, "system:serviceaccounts:%s", namespace_);
    }
    if (!identity_is_in(&probe, AUTHENTICATED) && !identity_is_in(&probe, UNAUTHENTICATED))
        groups[used++] = str_eq(named->name, "system:anonymous") ? UNAUTHENTICATED : AUTHENTICATED;
    return groups;
}

/* Returns the extra attributes that the headers name, or NULL if they name none. */
static const struct json *extra_of(struct arena *arena, const struct http_header *headers)
{
    struct json *extra = json_object(arena);
    for (; headers; headers = headers->next)
        if (impersonation_is_header(headers->name, EXTRA))
            json_append(json_ensure_array(arena, extra, extra_key(arena, headers->name)),
                        json_string(arena, headers->value));
    return extra->count > 0 ? extra : NULL;
}

int impersonation_apply(struct arena *arena, const struct access_policy *policy,
                        const struct identity *sender, const struct http_header *headers,
                        const struct identity **ret, struct err *err)
{
    const struct impersonation impersonation = {arena, policy, sender};
    const char *user = http_header_get(headers, USER), *uid = http_header_get(headers, UID);
    if (str_is_empty(user))
        return err_set(err, ERR_BAD_REQUEST,
                       "header '%.64s' needs a user to impersonate: also send '%s'",
                       impersonation_header(headers), USER);
    for (const struct http_header *header = headers; header; header = header->next) {
        int result = check_header(&impersonation, header, err);
        if (result < 0)
            return result;
    }
    struct identity *identity = ARENA_NEW(arena, struct identity);
    identity->name = user;
    identity->uid = str_is_empty(uid) ? NULL : uid;
    identity->groups = groups_of(arena, identity, headers);
    identity->extra = extra_of(arena, headers);
    *ret = identity;
    return 0;
}

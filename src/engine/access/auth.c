/* Identifies the user of a request by its token; see auth.h. */
#include "engine/access/auth.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/access/token.h"
#include "engine/stored/stored.h"
#include "kube/kinds/kinds.h"
#include "kube/object.h"

#include <string.h>
#include <strings.h>

static const char SCHEME[] = "Bearer ";

static const struct identity ADMIN = {
    .name = "trainyard-admin",
    .groups = (const char *const[]){"system:masters", "system:authenticated", NULL},
};

static bool auth_is_same_token(const char *given, const char *token)
{
    size_t size = strlen(token), given_size = strlen(given);
    unsigned difference = size != given_size;
    for (size_t i = 0; i < size; i++)
        difference |=
            (unsigned char)token[i] ^ (unsigned char)given[given_size ? i % given_size : 0];
    return difference == 0;
}

/* Returns whether the store has the object, with this uid. */
static bool auth_object_exists(struct arena *arena, struct store *store,
                               const struct kube_kind *kind, const char *namespace_,
                               const char *name, const char *uid)
{
    const char *key = stored_key(arena, kind, namespace_, name);
    struct store_object *stored = store_get(store, key);
    struct json *object = NULL;
    bool same_uid = stored && stored_read(arena, stored, &object, NULL) == 0 &&
                    str_eq(kube_meta_uid(object), uid);
    store_object_unref(stored);
    return same_uid;
}

/* Returns the service account that the token names, or NULL if the token is not valid. */
static const struct identity *identify_account(struct arena *arena, const struct auth *auth,
                                               const char *token)
{
    struct token_claims claims;
    if (!auth->signer->sign ||
        token_verify(arena, auth->signer, token, auth->now_ms / 1000, &claims, NULL) < 0)
        return NULL;
    if (!auth_object_exists(arena, auth->store, &KUBE_SERVICEACCOUNT_KIND, claims.namespace_,
                            claims.account, claims.account_uid))
        return NULL;
    if (claims.pod && !auth_object_exists(arena, auth->store, &KUBE_POD_KIND, claims.namespace_,
                                          claims.pod, claims.pod_uid))
        return NULL;
    const char **groups = ARENA_ARRAY(arena, const char *, 4);
    groups[0] = "system:serviceaccounts";
    groups[1] = arena_printf(arena, "system:serviceaccounts:%s", claims.namespace_);
    groups[2] = "system:authenticated";
    struct identity *identity = ARENA_NEW(arena, struct identity);
    *identity = (struct identity){
        .name =
            arena_printf(arena, "system:serviceaccount:%s:%s", claims.namespace_, claims.account),
        .uid = claims.account_uid,
        .groups = groups,
        .pod = claims.pod,
        .pod_uid = claims.pod_uid,
    };
    return identity;
}

/* Returns the bearer token of the request, or NULL. */
static const char *auth_bearer_token(const struct http_request *request)
{
    const char *value = http_header_get(request->headers, "Authorization");
    if (!value || strncasecmp(value, SCHEME, sizeof(SCHEME) - 1) != 0)
        return NULL;
    return value + sizeof(SCHEME) - 1;
}

const struct identity *auth_identify(struct arena *arena, const struct auth *auth,
                                     const struct http_request *request)
{
    const char *token = auth_bearer_token(request);
    if (!token)
        return NULL;
    return auth_is_same_token(token, auth->token) ? &ADMIN : identify_account(arena, auth, token);
}

bool auth_shows_token(const struct http_request *request)
{
    return !str_is_empty(auth_bearer_token(request));
}

bool auth_is_open(const char *path)
{
    static const char *const open[] = {"/healthz", "/livez", "/readyz", "/version"};
    for (size_t i = 0; i < ARRAY_SIZE(open); i++)
        if (str_eq(path, open[i]))
            return true;
    return false;
}

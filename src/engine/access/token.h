/* The tokens of service accounts: JSON web tokens (RFC 7519) with Kubernetes' claims, signed
 * with HMAC-SHA256. Pure and fuzzed, because tokens come from clients. A token can outlive its
 * account and its pod, so auth.c also looks them up in the store. */
#ifndef TRAINYARD_ENGINE_ACCESS_TOKEN_H
#define TRAINYARD_ENGINE_ACCESS_TOKEN_H

#include "base/arena.h"
#include "engine/engine.h"

enum { TOKEN_MAX = 8 * 1024 };

/* The issuer of all tokens, and the audience of a token that was requested without an audience. */
#define TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

struct token_claims {
    const char *namespace_, *account, *account_uid;
    /* The token is valid only while this pod exists. NULL: the token is not bound to a pod. */
    const char *pod, *pod_uid;
    const struct json *audiences; /* a list of strings; NULL: TOKEN_ISSUER */
    int64_t issued_s, expires_s;  /* Unix time */
};

int token_make(struct arena *arena, const struct engine_seal *seal,
               const struct token_claims *claims, const char **ret, struct err *err);

/* Sets *ret to the claims of the token. Returns -ERR_UNAUTHORIZED with the reason if this
 * cluster has not signed the token, if it is not valid now, or if TOKEN_ISSUER is not one of its
 * audiences. No part of a token is parsed before its signature is found valid. */
int token_verify(struct arena *arena, const struct engine_seal *seal, const char *text,
                 int64_t now_s, struct token_claims *ret, struct err *err);

#endif

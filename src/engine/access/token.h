/* The tokens of service accounts: JSON web tokens (RFC 7519) with Kubernetes' claims, signed with
 * HMAC-SHA256. token_verify() is pure and fuzzed, because tokens come from clients. A token can
 * outlive its account and its pod, so auth.c also looks up both in the store. */
#ifndef TRAINYARD_ENGINE_ACCESS_TOKEN_H
#define TRAINYARD_ENGINE_ACCESS_TOKEN_H

#include "base/arena.h"
#include "engine/engine.h"

enum { TOKEN_MAX = 8 * 1024 }; /* bytes */

/* The issuer of all tokens, and the audience of a token that was requested without an audience. */
#define TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

struct token_claims {
    const char *namespace_;  /* the namespace of the service account and of the pod */
    const char *account;     /* the name of the service account */
    const char *account_uid; /* the uid of the service account */
    /* The name of a pod: the token is valid only while the pod exists. NULL: the token is not bound
     * to a pod. */
    const char *pod;
    const char *pod_uid; /* the uid of the pod; NULL if `pod` is NULL */
    /* A list of strings: the servers that may accept the token. NULL or empty: TOKEN_ISSUER. */
    const struct json *audiences;
    int64_t issued_s, expires_s; /* Unix time */
};

/* Sets *ret to a new token in the arena. Returns -ERR_TOO_LARGE if the token would exceed
 * TOKEN_MAX, or the error of the signer. */
int token_make(struct arena *arena, const struct engine_signer *signer,
               const struct token_claims *claims, const char **ret, struct err *err);

/* Sets *ret to the claims of the token. Returns -ERR_UNAUTHORIZED with the reason if this cluster
 * has not signed the token, if the token is not valid now, or if TOKEN_ISSUER is not one of its
 * audiences. Returns the error of the signer if the signer fails. Parses the JSON of the token only
 * after the signature is found valid. */
int token_verify(struct arena *arena, const struct engine_signer *signer, const char *text,
                 int64_t now_s, struct token_claims *ret, struct err *err);

#endif

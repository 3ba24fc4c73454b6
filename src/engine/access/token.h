/* The tokens of service accounts: JSON web tokens (RFC 7519) as Kubernetes words them, sealed with
 * HMAC-SHA256. Pure and fuzzed: a token comes from outside. A token that is sealed right may still
 * be of an account that is gone; auth.c asks the store about that. */
#ifndef TRAINYARD_ENGINE_TOKEN_H
#define TRAINYARD_ENGINE_TOKEN_H

#include "base/arena.h"
#include "engine/engine.h"

enum { TOKEN_MAX = 8 * 1024 };

/* Who issues, and who is meant where nobody else is named. */
#define TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

struct token_claims {
    const char *namespace_, *account, *account_uid;
    const char *pod, *pod_uid;    /* the token ends with this pod; NULL: bound to none */
    const struct json *audiences; /* a list of strings; NULL: TOKEN_ISSUER */
    int64_t issued_s, expires_s;  /* Unix time */
};

int token_make(struct arena *arena, const struct engine_seal *seal,
               const struct token_claims *claims, const char **ret, struct err *err);

/* The claims of a token that we sealed, that holds now and that is meant for this server;
 * ERR_UNAUTHORIZED with the reason otherwise. Nothing of a token is looked into before its seal is
 * found right. */
int token_verify(struct arena *arena, const struct engine_seal *seal, const char *text,
                 int64_t now_s, struct token_claims *ret, struct err *err);

#endif

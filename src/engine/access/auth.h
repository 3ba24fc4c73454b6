/* Who asks: the owner, known by the token of the kubeconfig, or a service account, known by a token
 * this cluster signed. Probes need to be nobody. */
#ifndef TRAINYARD_ENGINE_AUTH_H
#define TRAINYARD_ENGINE_AUTH_H

#include "engine/access/identity.h"
#include "engine/engine.h"
#include "net/http/http.h"

#include <stdbool.h>

struct auth {
    const char *token;              /* the owner's */
    const struct engine_seal *seal; /* of service accounts' tokens */
    struct store *store;            /* knows whether the account is still there */
    int64_t now_ms;                 /* wall time */
};

/* NULL for one who is not known. The comparison takes the same time wherever the tokens differ. */
const struct identity *auth_identify(struct arena *arena, const struct auth *auth,
                                     const struct http_request *request);

/* Whether there is a bearer token, good or not. */
bool auth_shows_token(const struct http_request *request);

/* Paths that anybody may read. */
bool auth_is_open(const char *path);

#endif

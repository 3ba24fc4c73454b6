/* Authentication: identifies the owner of the cluster by the token of the kubeconfig, and
 * service accounts by tokens that this cluster has signed. A few paths need no token, for
 * example /healthz. */
#ifndef TRAINYARD_ENGINE_ACCESS_AUTH_H
#define TRAINYARD_ENGINE_ACCESS_AUTH_H

#include "engine/access/identity.h"
#include "engine/engine.h"
#include "net/http/http.h"

#include <stdbool.h>

struct auth {
    const char *token;              /* the owner's token */
    const struct engine_seal *seal; /* verifies the signatures of service account tokens */
    /* A token is valid only while its account, and its pod if it is bound to one, exist here. */
    struct store *store;
    int64_t now_ms; /* wall time */
};

/* Returns NULL if the request has no valid token. Compares tokens in constant time. */
const struct identity *auth_identify(struct arena *arena, const struct auth *auth,
                                     const struct http_request *request);

/* Whether the request has a bearer token, valid or not. */
bool auth_shows_token(const struct http_request *request);

/* Whether a client may read the path without a token, for example /healthz. */
bool auth_is_open(const char *path);

#endif

/* Authentication: identifies the administrator of the cluster by the token in the administrator's
 * kubeconfig, and service accounts by tokens that this cluster has signed. A few paths need no
 * token, for example /healthz. engine.c calls these functions for each request. */
#ifndef TRAINYARD_ENGINE_ACCESS_AUTH_H
#define TRAINYARD_ENGINE_ACCESS_AUTH_H

#include "engine/access/identity.h"
#include "engine/engine.h"
#include "net/http/http.h"

#include <stdbool.h>

/* The inputs of auth_identify(). */
struct auth {
    const char *token;                  /* the administrator's token */
    const struct engine_signer *signer; /* verifies the signatures of service account tokens */
    /* The token of a service account is valid only while the store has its account, and its pod if
     * the token is bound to a pod. */
    struct store *store;
    int64_t now_ms; /* wall time */
};

/* Returns the user of the request, or NULL if the request has no valid token. Compares tokens in
 * constant time. */
const struct identity *auth_identify(struct arena *arena, const struct auth *auth,
                                     const struct http_request *request);

/* Returns whether the request has a bearer token, valid or not. */
bool auth_shows_token(const struct http_request *request);

/* Returns whether a client may read the path without a token, for example /healthz. */
bool auth_is_open(const char *path);

#endif

/* Impersonation (`kubectl --as`): a request with Impersonate-… headers. If the roles of the sender
 * allow the impersonation, the server handles the request as if the user named in the headers had
 * sent it. engine.c calls these functions after authentication. Pure. */
#ifndef TRAINYARD_ENGINE_ACCESS_IMPERSONATION_H
#define TRAINYARD_ENGINE_ACCESS_IMPERSONATION_H

#include "engine/access/access.h"
#include "net/http/http.h"

/* Returns the name of the first Impersonate-… header, or NULL. */
const char *impersonation_header(const struct http_header *headers);

/* Sets *ret to the identity that the headers name, in the arena. `sender` is the user that sent the
 * request. Returns -ERR_FORBIDDEN if the roles of `sender` do not allow the impersonation, or
 * -ERR_BAD_REQUEST if the headers name no user. */
int impersonation_apply(struct arena *arena, const struct access_policy *policy,
                        const struct identity *sender, const struct http_header *headers,
                        const struct identity **ret, struct err *err);

#endif

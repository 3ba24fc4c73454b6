/* Authorizes a request whose user is identified and whose path is parsed, and calls the handler of
 * its subresource or verb. engine.c calls these functions. */
#ifndef TRAINYARD_ENGINE_DISPATCH_H
#define TRAINYARD_ENGINE_DISPATCH_H

#include "engine/access/identity.h"
#include "engine/api/route.h"
#include "engine/engine.h"

/* Authorizes the request before its body arrives. Responds with an error if the roles do not allow
 * the request; otherwise does nothing. */
void dispatch_admit(struct engine *engine, struct http_exchange *exchange,
                    const struct identity *identity, const struct route *route);
/* Authorizes and handles the request. The response may be sent in a later turn of the loop. */
void dispatch_handle(struct engine *engine, struct http_exchange *exchange,
                     const struct identity *identity, const struct route *route);

#endif

/* Authorizes a routed request of an identified user and calls the handler of its subresource or
 * verb. */
#ifndef TRAINYARD_ENGINE_DISPATCH_H
#define TRAINYARD_ENGINE_DISPATCH_H

#include "engine/access/identity.h"
#include "engine/api/route.h"
#include "engine/engine.h"

/* Called before the body has arrived. Responds with an error if the roles do not allow the
 * request. */
void dispatch_admit(struct engine *engine, struct http_exchange *exchange,
                    const struct identity *identity, const struct route *route);
/* Handles the request. The response may be sent later. */
void dispatch_handle(struct engine *engine, struct http_exchange *exchange,
                     const struct identity *identity, const struct route *route);

#endif

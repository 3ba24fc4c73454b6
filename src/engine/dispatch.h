/* From a routed request of an identified user to the handler of its verb. */
#ifndef TRAINYARD_ENGINE_DISPATCH_H
#define TRAINYARD_ENGINE_DISPATCH_H

#include "engine/access/identity.h"
#include "engine/api/route.h"
#include "engine/engine.h"

/* Before the body has arrived: responds if the roles do not allow the request. */
void dispatch_admit(struct engine *engine, struct http_exchange *exchange,
                    const struct identity *identity, const struct route *route);
/* Responds to the request, now or later. */
void dispatch_handle(struct engine *engine, struct http_exchange *exchange,
                     const struct identity *identity, const struct route *route);

#endif

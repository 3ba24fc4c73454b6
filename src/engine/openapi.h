/* The OpenAPI v2 document, in the protobuf form that is the only one kubectl reads. */
#ifndef TRAINYARD_ENGINE_OPENAPI_H
#define TRAINYARD_ENGINE_OPENAPI_H

#include "engine/registry.h"
#include "net/http.h"

void openapi_respond(struct http_exchange *exchange, const struct registry *registry);

#endif

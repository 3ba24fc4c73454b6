/* OpenAPI v2; see openapi.h. An empty protobuf message is a valid, empty document: kubectl then
 * validates nothing itself and leaves it to the server. */
#include "engine/openapi.h"

void openapi_respond(struct http_exchange *exchange)
{
    /* Not the name that was asked for: that one has an '@' no media type may contain. */
    http_respond(exchange, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "",
                 0);
}

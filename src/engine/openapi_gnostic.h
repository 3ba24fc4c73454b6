/* OpenAPI v2 in the protobuf form that kubectl up to 1.26 reads nothing but: the messages of
 * gnostic's OpenAPIv2.proto. The document is written once, as JSON; here its members get their
 * numbers. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H

#include "base/json.h"

void openapi_gnostic_write(const struct json *document, struct buf *buf);

#endif

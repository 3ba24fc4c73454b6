/* OpenAPI in protobuf: version 2 as kubectl up to 1.26 reads nothing but, version 3 as clients may
 * ask for it; the messages of gnostic's OpenAPIv2.proto and OpenAPIv3.proto. A document is written
 * once, as JSON; here its members get their numbers. Of a default that is an object or a list
 * version 3 has no more than that there is one, as upstream. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H

#include "base/json/json.h"

void openapi_gnostic_write_v2(const struct json *document, struct buf *buf);
void openapi_gnostic_write_v3(const struct json *document, struct buf *buf);

#endif

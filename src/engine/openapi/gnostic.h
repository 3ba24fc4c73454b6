/* OpenAPI in protobuf, as the messages of gnostic's OpenAPIv2.proto and OpenAPIv3.proto. kubectl up
 * to 1.26 reads version 2 in no other form; version 3 is optional for clients. A document is made
 * as JSON and encoded here. As in Kubernetes, a default that is an object or a list becomes an
 * empty message in version 3. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H

#include "base/json/json.h"

void openapi_gnostic_write_v2(const struct json *document, struct buf *buf);
void openapi_gnostic_write_v3(const struct json *document, struct buf *buf);

#endif

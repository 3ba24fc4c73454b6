/* Encodes OpenAPI documents as protobuf, with the messages of gnostic's OpenAPIv2.proto and
 * OpenAPIv3.proto. kubectl up to 1.26 reads OpenAPI version 2 only in this form. For version 3,
 * clients may also use JSON. As in Kubernetes, a default that is an object or a list becomes an
 * empty message in version 3. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_H

#include "base/json/json.h"

/* Each function appends the message to `buf`. */
void openapi_gnostic_write_v2(const struct json *document, struct buf *buf);
void openapi_gnostic_write_v3(const struct json *document, struct buf *buf);

#endif

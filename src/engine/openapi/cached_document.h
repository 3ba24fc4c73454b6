/* Answers that clients may cache: discovery and OpenAPI, which only change with the API itself.
 * They are made per request. A client that sends the ETag of the present document gets 304. */
#ifndef TRAINYARD_ENGINE_OPENAPI_CACHED_DOCUMENT_H
#define TRAINYARD_ENGINE_OPENAPI_CACHED_DOCUMENT_H

#include "net/http/http.h"

/* 16 hexadecimal digits and the terminating NUL. */
enum { CACHED_DOCUMENT_HASH_SIZE = 17 };
void cached_document_hash(const void *data, size_t size, char ret[CACHED_DOCUMENT_HASH_SIZE]);

/* Answers the exchange with the document, or with 304 if the client has it. `more` are further
 * headers in the exchange's arena, or NULL; the function adds to them. */
void cached_document_respond(struct http_exchange *exchange, const char *type,
                             struct http_header *more, const void *data, size_t size);

/* Answers 406: "only the following media types are accepted: …". */
void cached_document_refuse(struct http_exchange *exchange, const char *types);

#endif

/* Responses that clients may cache: discovery and OpenAPI documents, which change only when the
 * served kinds change. The server makes the document for each request. A client that sends the
 * ETag of the current document gets 304. */
#ifndef TRAINYARD_ENGINE_OPENAPI_CACHED_DOCUMENT_H
#define TRAINYARD_ENGINE_OPENAPI_CACHED_DOCUMENT_H

#include "net/http/http.h"

/* The size of the text of a hash: 16 hexadecimal digits and the terminating NUL. */
enum { CACHED_DOCUMENT_HASH_SIZE = 17 };
/* Computes the hash of a document, which identifies its content. The ETag of a response is the hash
 * of its body. */
void cached_document_hash(const void *data, size_t size, char ret[CACHED_DOCUMENT_HASH_SIZE]);

/* Responds with the document of media type `type`, or with 304 if the client has it. `more` is a
 * list of further headers in the exchange's arena, or NULL. The function appends headers to the
 * list. */
void cached_document_respond(struct http_exchange *exchange, const char *type,
                             struct http_header *more, const void *data, size_t size);

/* Responds with 406 and "only the following media types are accepted: …". */
void cached_document_refuse(struct http_exchange *exchange, const char *types);

#endif

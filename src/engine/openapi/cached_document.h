/* Answers that are the same until the API itself changes, and that every client asks for before
 * anything else: discovery and OpenAPI. They are made when asked for; who has one already, and says
 * so with its ETag, is told that it still holds. */
#ifndef TRAINYARD_ENGINE_DOCUMENT_H
#define TRAINYARD_ENGINE_DOCUMENT_H

#include "net/http/http.h"

/* Sixteen digits and the end. */
enum { CACHED_DOCUMENT_HASH_SIZE = 17 };
void cached_document_hash(const void *data, size_t size, char ret[CACHED_DOCUMENT_HASH_SIZE]);

/* `more` are headers besides, in the exchange's arena, and others are added to them; NULL: none. */
void cached_document_respond(struct http_exchange *exchange, const char *type,
                             struct http_header *more, const void *data, size_t size);

/* "only the following media types are accepted: …" (406). */
void cached_document_refuse(struct http_exchange *exchange, const char *types);

#endif

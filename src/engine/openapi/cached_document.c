/* Responds with documents that clients may cache; see cached_document.h. */
#include "engine/openapi/cached_document.h"

#include "base/hash.h"
#include "base/str.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void cached_document_hash(const void *data, size_t size, char ret[CACHED_DOCUMENT_HASH_SIZE])
{
    snprintf(ret, CACHED_DOCUMENT_HASH_SIZE, "%016" PRIX64, hash_fnv1a(HASH_FNV_START, data, size));
}

/* Returns whether If-None-Match is "*" or contains the tag, as a strong or a weak ETag. */
static bool client_has(const struct http_request *request, const char *tag)
{
    const char *known = http_header_get(request->headers, "If-None-Match");
    return known && (strstr(known, tag) || str_eq(known, "*"));
}

void cached_document_respond(struct http_exchange *exchange, const char *type,
                             struct http_header *more, const void *data, size_t size)
{
    char hash[CACHED_DOCUMENT_HASH_SIZE];
    cached_document_hash(data, size, hash);
    const char *tag = arena_printf(exchange->arena, "\"%s\"", hash);
    http_header_add(exchange->arena, &more, "ETag", tag);
    http_header_add(exchange->arena, &more, "Vary", "Accept");
    if (client_has(exchange->request, tag)) {
        http_begin(exchange, 304, NULL, more, 0);
    } else {
        http_begin(exchange, 200, type, more, (int64_t)size);
        http_write(exchange, data, size);
    }
    http_end(exchange);
}

void cached_document_refuse(struct http_exchange *exchange, const char *types)
{
    struct err err;
    err_set(&err, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: %s", types);
    engine_respond_error(exchange, &err);
}

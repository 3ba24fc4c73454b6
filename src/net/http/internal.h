/* What the files of net/ share and nobody else sees. */
#ifndef TRAINYARD_NET_HTTP_INTERNAL_H
#define TRAINYARD_NET_HTTP_INTERNAL_H

#include "net/http/http.h"

/* The head of every call; each transport's own struct begins with it. */
struct http_call {
    struct http_transport *transport;
};

/* Copies in the arena. Of a request without a query or a body they are empty, not NULL; who asks is
 * for the transport to say. */
struct http_header *http_headers_copy(struct arena *arena, const struct http_header *headers);
struct http_request http_request_copy(struct arena *arena, const struct http_request *request);

/* "Bearer <token>" as Authorization, unless the caller gave one. */
void http_add_bearer(struct arena *arena, struct http_header **headers, const char *bearer);

#endif

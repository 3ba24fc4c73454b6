/* What the files of net/ share and nobody else sees. */
#ifndef TRAINYARD_NET_HTTP_INTERNAL_H
#define TRAINYARD_NET_HTTP_INTERNAL_H

#include "net/http/http.h"

/* The head of every call; each transport's own struct begins with it. */
struct http_call {
    struct http_transport *transport;
};

/* A copy in the arena. A missing query or body becomes "", not NULL. The transport sets `peer`. */
struct http_request http_request_copy(struct arena *arena, const struct http_request *request);

/* "Bearer <token>" as Authorization, unless the caller gave one. */
void http_add_bearer(struct arena *arena, struct http_header **headers, const char *bearer);

#endif

/* Declarations that only the files of net/http/ use. */
#ifndef TRAINYARD_NET_HTTP_INTERNAL_H
#define TRAINYARD_NET_HTTP_INTERNAL_H

#include "net/http/http.h"

/* The first member of the call struct of each transport. */
struct http_call {
    struct http_transport *transport;
};

/* Copies a request into the arena. A query or body of NULL becomes "". The transport sets
 * `peer`. */
struct http_request http_request_copy(struct arena *arena, const struct http_request *request);

/* Adds "Authorization: Bearer <token>" unless the headers have an Authorization. Does nothing if
 * `bearer` is NULL. */
void http_add_bearer(struct arena *arena, struct http_header **headers, const char *bearer);

#endif

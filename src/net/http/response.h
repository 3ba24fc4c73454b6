/* The server's side of one exchange: writes the response as HTTP/1.1 to the connection's stream. If
 * the peer leaves and the handler has no on_cancel, the response outlives the connection. */
#ifndef TRAINYARD_NET_HTTP_RESPONSE_H
#define TRAINYARD_NET_HTTP_RESPONSE_H

#include "base/buf.h"
#include "net/http/http.h"

struct http_connection;

struct http_response {
    struct http_exchange exchange;
    struct http_connection *connection; /* NULL: the peer is gone, and written bytes are dropped */
    struct arena *arena;                /* contains this struct */
    struct http_request request;
    struct buf body;
    bool handled;    /* the handler was called and must end the exchange */
    int minor;       /* minor version of the client's HTTP: 0 or 1 */
    bool keep_alive; /* the connection stays open after the response */
    bool no_body;    /* HEAD, 204 and 304: the written body is not sent */
    bool chunked;
    int64_t left; /* bytes left of the announced Content-Length; -1: none was announced */
};

/* Makes a response for the header that the connection's parser has completed. Takes over the
 * parser's arena. */
struct http_response *http_response_new(struct http_connection *connection);
/* The request is complete. Takes over the parser's body. */
void http_response_take_body(struct http_response *response);

/* Frees the response and returns its arena, emptied, for the next request. Returns NULL if the
 * arena had grown too large to be kept. */
struct arena *http_response_free(struct http_response *response);

/* The peer is gone: calls on_cancel, or lets a handler without it continue and drops the bytes that
 * it writes. */
void http_response_abandon(struct http_response *response);

#endif

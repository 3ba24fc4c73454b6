/* The server's side of one exchange: writes the response as HTTP/1.1 to the connection's stream. If
 * the peer closes the connection and the exchange has no on_cancel, the response outlives the
 * connection. */
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
    bool handled;    /* the handler was called */
    int minor;       /* minor version of the client's HTTP: 0 or 1 */
    bool keep_alive; /* the connection stays open after the response */
    bool no_body;    /* bytes that the handler writes are not sent: HEAD, 1xx, 204, 304, or the
                        response was replaced by 429 */
    bool chunked;
    int64_t left; /* number of bytes of the Content-Length that are not written yet; -1: no
                     Content-Length */
};

/* Creates a response for the request whose header the connection's parser has completed. Takes
 * ownership of the parser's arena. */
struct http_response *http_response_new(struct http_connection *connection);
/* Takes the body from the parser. Called when the request is complete. */
void http_response_take_body(struct http_response *response);

/* Frees the response. Resets its arena and returns it for the next request. If the arena is too
 * large to be kept, frees it too and returns NULL. */
struct arena *http_response_free(struct http_response *response);

/* Called when the connection is closed. If the handler was called and has not ended the response,
 * calls on_cancel. If on_cancel is NULL in this case, the response stays until the handler ends it,
 * and the written bytes are dropped. In all other cases frees the response. */
void http_response_abandon(struct http_response *response);

#endif

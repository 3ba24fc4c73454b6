/* The server's side of one exchange: writes the answer as HTTP/1.1 onto the connection's stream.
 * It outlives the connection when the peer leaves before an answerer that cannot be told. */
#ifndef TRAINYARD_NET_HTTP_ANSWER_H
#define TRAINYARD_NET_HTTP_ANSWER_H

#include "base/buf.h"
#include "net/http/http.h"

struct http_connection;

struct http_response {
    struct http_exchange exchange;
    struct http_connection *connection; /* NULL: the peer is gone, what is written is dropped */
    struct arena *arena;                /* this struct lies in it */
    struct http_request request;
    struct buf body;
    bool handled;    /* the handler was called: the exchange is its to end */
    int minor;       /* the client's version */
    bool keep_alive; /* the connection goes on after it */
    bool no_body;    /* HEAD, 204, 304: what is written is not sent */
    bool chunked;
    int64_t left; /* of the length that was promised; -1: none was */
};

/* From a header that the connection's parser has completed; takes over the parser's arena. */
struct http_response *http_response_new(struct http_connection *connection);
/* The request is complete; takes over the parser's body. */
void http_response_take_body(struct http_response *answer);

/* The arena, emptied, for the next request; NULL if it had grown too large to be kept. */
struct arena *http_response_free(struct http_response *answer);

/* The peer is gone: tell the answerer, or let it go on into the void until it ends. */
void http_response_abandon(struct http_response *answer);

#endif

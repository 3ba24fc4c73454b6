/* HTTP as the rest of the program sees it: requests, responses that may be streamed, and the two
 * ends of an exchange.
 *
 * A server is a function: it gets an exchange and answers it, now or later, whole or in pieces. A
 * transport is the client's end: it starts a call and reports the header, pieces of the body and
 * the end. Two kinds of transport connect them: an https connection (client.c, server.c) and direct
 * calls within one process (local.c). Neither end knows which one it has, so the same controllers
 * run inside this process and in a real cluster. */
#ifndef TRAINYARD_NET_HTTP_HTTP_H
#define TRAINYARD_NET_HTTP_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "net/http_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_request {
    const char *method; /* "GET" */
    const char *path;   /* percent-decoded, without the query: "/api/v1/pods" */
    const char *query;  /* as sent, without '?'; "" if there is none */
    struct http_header *headers;
    const char *body; /* the whole body; the server limits its size */
    size_t body_size;
    const char *peer; /* the client, for logs: "127.0.0.1:40112", "in-process" */
};

/* The decoded value of a query parameter, in the arena; NULL if absent, "" if empty.
 * http_query_get_nth() returns the n-th of repeated parameters (command=a&command=b), counted from
 * 0. */
const char *http_query_get(struct arena *arena, const char *query, const char *name);
const char *http_query_get_nth(struct arena *arena, const char *query, const char *name, size_t n);
/* Whether a boolean parameter is on: present, and neither "0" nor "false" in any case, as in
 * Kubernetes. */
bool http_query_flag(const char *query, const char *name);
char *http_query_encode(struct arena *arena, const char *value);
/* Encodes a path for the request line. Bytes that may not stand there are escaped; '/' stays. */
char *http_path_encode(struct arena *arena, const char *path);
/* Percent-decodes `size` bytes; with `plus_is_space`, '+' becomes a space. An invalid escape and an
 * escaped NUL stay as they are. The result is never longer than the input. */
char *http_percent_decode(struct arena *arena, const char *text, size_t size, bool plus_is_space);

const char *http_status_text(int status);

/* ---- The server's end ------------------------------------------------------------------------ */

struct http_exchange;
struct stream;

struct http_exchange_ops {
    /* Length -1: unknown, sent chunked. */
    void (*begin)(struct http_exchange *exchange, int status, const struct http_header *headers,
                  int64_t length);
    void (*write)(struct http_exchange *exchange, const void *data, size_t size);
    void (*end)(struct http_exchange *exchange);
    void (*abort)(struct http_exchange *exchange); /* NULL: end() is called instead */
    bool (*reserve)(struct http_exchange *exchange, size_t size); /* NULL: no limit */
    size_t (*pending)(struct http_exchange *exchange); /* bytes that the peer has not taken yet */
    /* NULL: the exchange has no connection that could be upgraded. */
    struct stream *(*upgrade)(struct http_exchange *exchange, const char *protocol,
                              const struct http_header *headers);
};

/* One request and its response. The handler must call http_end() exactly once, now or later. The
 * exception is `on_cancel`, which tells it that the peer left: the handler must not use the
 * exchange after on_cancel returns. The arena and the request live as long as the exchange. */
struct http_exchange {
    const struct http_exchange_ops *ops;
    const struct http_request *request;
    struct arena *arena;
    bool arena_is_lent; /* set by the handler while another thread uses the arena */
    const char *user;   /* set by the admission function or the handler after authentication */
    /* The admission function of an http_server (net/http/server.h) sets the next two. */
    size_t body_max;       /* the largest accepted body; initially the limit of the server */
    const void *admission; /* the admission function's result for the handler; NULL: no admission
                              function ran */
    bool in_process; /* the peer is in this process and takes all bytes in the next turn of the loop
                      */
    /* Set by a handler that streams; may be NULL. */
    void (*on_cancel)(struct http_exchange *exchange);
    /* All bytes were taken by the peer; may be NULL. */
    void (*on_drain)(struct http_exchange *exchange);
    void *context; /* of the handler */
    bool begun;
    bool ended;
};

typedef void http_handler(struct http_exchange *exchange, void *context);

void http_begin(struct http_exchange *exchange, int status, const char *content_type,
                const struct http_header *more, int64_t length);
void http_write(struct http_exchange *exchange, const void *data, size_t size);
void http_end(struct http_exchange *exchange);
/* Ends a response that cannot be completed: the connection is closed, so that the peer does not
 * take the response for complete. Replaces http_end(). */
void http_abort(struct http_exchange *exchange);
/* Charges the bytes that the handler holds, or is about to hold, to the client: for the tree of a
 * body before it parses the body, or for a response that it makes over several turns of the loop.
 * Replaces the number of an earlier call. Returns false if there is no room for them or the client
 * is gone; then the handler frees them and answers with 429, the message HTTP_NO_MEMORY and the
 * header "Retry-After: HTTP_RETRY_AFTER_S". */
bool http_reserve(struct http_exchange *exchange, size_t size);
#define HTTP_NO_MEMORY     "the server holds as much for its clients as it may: try again later"
#define HTTP_RETRY_AFTER_S "1"
size_t http_pending(struct http_exchange *exchange);

/* Answers with "101 Switching Protocols" and returns the connection as a stream, which first
 * delivers the bytes that the peer sent after its request. The caller must start the stream before
 * the handler returns to the loop. The exchange ends as with http_end(). The response must not have
 * begun, and the request must have asked for the protocol. Returns -ERR_BAD_REQUEST for an
 * in-process exchange, which still has to be answered then. */
int http_upgrade(struct http_exchange *exchange, const char *protocol,
                 const struct http_header *headers, struct stream **ret, struct err *err);

/* Sends a whole response. */
void http_respond(struct http_exchange *exchange, int status, const char *content_type,
                  const void *body, size_t size);

/* ---- The client's end ------------------------------------------------------------------------ */

struct http_call;

/* The callbacks of a call. Any may be NULL except on_end, which is called exactly once unless the
 * call is cancelled; its err is NULL if the response is complete. Never called from within
 * http_start(). */
struct http_callbacks {
    void (*on_head)(void *context, int status, const struct http_header *headers);
    void (*on_data)(void *context, const void *data, size_t size);
    void (*on_end)(void *context, const struct err *err);
};

struct http_transport;

struct http_transport_ops {
    struct http_call *(*start)(struct http_transport *transport, const struct http_request *request,
                               int64_t timeout_ms, const struct http_callbacks *listener,
                               void *context);
    void (*cancel)(struct http_transport *transport, struct http_call *call);
    void (*free)(struct http_transport *transport);
};

struct http_transport {
    const struct http_transport_ops *ops;
};

/* Starts a call. The request is copied. A timeout_ms of 0 means no time limit, for streams. */
struct http_call *http_start(struct http_transport *transport, const struct http_request *request,
                             int64_t timeout_ms, const struct http_callbacks *listener,
                             void *context);
/* Cancels a call: none of its callbacks is called any more. Must not be called after on_end. */
void http_cancel(struct http_transport *transport, struct http_call *call);
/* Cancels all calls and frees the transport; returns NULL. May be called from within a callback. */
struct http_transport *http_transport_free(struct http_transport *transport);

/* The in-process transport: calls `handler` directly and delivers the response in later turns of
 * the loop. `bearer` is sent as the Authorization of each request; may be NULL. */
struct loop;
struct http_transport *http_local_new(struct loop *loop, http_handler *handler, void *context,
                                      const char *bearer);

#endif

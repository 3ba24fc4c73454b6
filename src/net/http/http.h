/* The HTTP interface for the rest of the program: requests, responses that may be streamed, servers
 * and clients.
 *
 * A server is a handler function. It gets an exchange and writes the response, now or later, at
 * once or in pieces. A client uses a transport, which starts a call and reports the header, pieces
 * of the body and the end of the response. There are two ways to the server: HTTP connections
 * (client.c, server.c) and direct calls within one process (local.c). A third transport
 * (throttle.c) wraps one of them and limits the calls. Client and server code is the same for both,
 * so the same controllers run inside this process and in a real cluster. */
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
    const char *query;  /* not decoded, without '?'; "" if there is no query */
    struct http_header *headers;
    const char *body; /* the whole body; "" until it is read */
    size_t body_size;
    const char *peer; /* address of the client, for logs: "127.0.0.1:40112" or "in-process" */
};

/* Returns the decoded value of a query parameter, allocated in the arena, or NULL if the parameter
 * is absent. */
const char *http_query_get(struct arena *arena, const char *query, const char *name);
/* Like http_query_get(), but returns the n-th value of a repeated parameter (command=a&command=b),
 * counted from 0. */
const char *http_query_get_nth(struct arena *arena, const char *query, const char *name, size_t n);
/* Returns whether a boolean parameter is true. As in Kubernetes, it is true if it is present and
 * its value is not "0" or "false" (in upper or lower case). */
bool http_query_flag(const char *query, const char *name);
/* Percent-encodes the name or the value of a query parameter. */
char *http_query_encode(struct arena *arena, const char *value);
/* Encodes a path for the request line. Escapes the bytes that are not allowed there. '/' is not
 * escaped. */
char *http_path_encode(struct arena *arena, const char *path);
/* Percent-decodes `size` bytes. If `plus_is_space`, '+' becomes a space. An invalid escape and an
 * escaped NUL are not decoded. The result is never longer than the input. */
char *http_percent_decode(struct arena *arena, const char *text, size_t size, bool plus_is_space);

/* Returns the reason phrase of a status, such as "Not Found", or "Unknown". */
const char *http_status_text(int status);

/* ---- The server side ------------------------------------------------------------------------- */

struct http_exchange;
struct stream;

struct http_exchange_ops {
    /* Starts the response. A `length` of -1 means unknown. Over HTTP/1.1 the body is then sent
     * chunked; over HTTP/1.0 the end of the connection ends it. */
    void (*begin)(struct http_exchange *exchange, int status, const struct http_header *headers,
                  int64_t length);
    void (*write)(struct http_exchange *exchange, const void *data, size_t size);
    void (*end)(struct http_exchange *exchange);
    void (*abort)(struct http_exchange *exchange); /* NULL: end() is called instead */
    bool (*reserve)(struct http_exchange *exchange, size_t size); /* NULL: no limit */
    size_t (*pending)(struct http_exchange *exchange);            /* number of unsent bytes */
    /* NULL if the exchange has no connection that could be upgraded. */
    struct stream *(*upgrade)(struct http_exchange *exchange, const char *protocol,
                              const struct http_header *headers);
};

/* One request and its response. The handler must end the response exactly once, now or later:
 * http_end(), http_abort(), http_respond() or http_upgrade(). If the client is gone first and
 * `on_cancel` is set, on_cancel is called, and the handler must not use the exchange after that. If
 * on_cancel is NULL, the handler must still end the response, and what it writes is dropped. The
 * arena and the request live as long as the exchange. */
struct http_exchange {
    const struct http_exchange_ops *ops;
    const struct http_request *request;
    struct arena *arena;
    bool arena_is_lent; /* set by the handler while another thread uses the arena */
    const char *user;   /* set by the admission function or the handler after authentication */
    /* The admission function of an http_server (net/http/server.h) may set body_max and
     * admission. */
    size_t body_max;       /* the largest accepted body; initially the limit of the server */
    const void *admission; /* the admission function's result for the handler; may be NULL */
    bool in_process;       /* the client is in this process, so the bytes need no network */
    /* Called when the client is gone: it closed the connection, its call was cancelled or timed
     * out, or the server closes the connection. A handler that streams sets it. If it is set, a
     * client that closes only its sending side counts as gone. May be NULL. */
    void (*on_cancel)(struct http_exchange *exchange);
    /* Called when all written bytes are sent and the response has not ended. May be NULL. */
    void (*on_drain)(struct http_exchange *exchange);
    void *context; /* for the handler's own use */
    bool begun;    /* the response has begun */
    bool ended;    /* the response has ended */
};

typedef void http_handler(struct http_exchange *exchange, void *context);

/* Starts the response. Adds a Content-Type unless `content_type` is NULL. `more` are further
 * headers. `length` is the size of the body; -1: unknown. */
void http_begin(struct http_exchange *exchange, int status, const char *content_type,
                const struct http_header *more, int64_t length);
void http_write(struct http_exchange *exchange, const void *data, size_t size);
void http_end(struct http_exchange *exchange);
/* To be called instead of http_end() if a response that has begun cannot be completed. Closes the
 * connection, so that the peer does not take the response for complete. An in-process client cannot
 * see the difference to http_end(). */
void http_abort(struct http_exchange *exchange);
/* Charges `size` bytes of the handler's memory to the client: for the tree of a body before the
 * body is parsed, or for a response that the handler creates over several turns of the loop.
 * Replaces the size of an earlier call. Returns false if there is no room or the client is gone.
 * Then the handler must free that memory and answer with 429, the message HTTP_NO_MEMORY and the
 * header "Retry-After: HTTP_RETRY_AFTER_S". */
bool http_reserve(struct http_exchange *exchange, size_t size);
#define HTTP_NO_MEMORY     "the server's memory limit for clients is reached: try again later"
#define HTTP_RETRY_AFTER_S "1"
/* Returns the number of bytes of the response that are not sent yet. */
size_t http_pending(struct http_exchange *exchange);

/* Answers with "101 Switching Protocols" and returns the connection as a stream, which first
 * delivers the bytes that the peer sent after its request. The caller must start the stream before
 * it returns to the loop. The exchange ends as with http_end(). The response must not have begun,
 * and the request must have asked for the protocol. Returns 0, or -ERR_BAD_REQUEST if the exchange
 * is in-process or the peer is gone; then the handler must still send a response. */
int http_upgrade(struct http_exchange *exchange, const char *protocol,
                 const struct http_header *headers, struct stream **ret, struct err *err);

/* Sends a whole response. */
void http_respond(struct http_exchange *exchange, int status, const char *content_type,
                  const void *body, size_t size);

/* ---- The client side ------------------------------------------------------------------------- */

struct http_call;

/* The callbacks of a call. on_head and on_data may be NULL. on_end is called exactly once, unless
 * the call is cancelled or the transport is freed. Its `err` is NULL if the response is complete.
 * No callback is called from within http_start(). */
struct http_callbacks {
    void (*on_head)(void *context, int status, const struct http_header *headers);
    void (*on_data)(void *context, const void *data, size_t size);
    void (*on_end)(void *context, const struct err *err);
};

struct http_transport;

struct http_transport_ops {
    struct http_call *(*start)(struct http_transport *transport, const struct http_request *request,
                               int64_t timeout_ms, const struct http_callbacks *callbacks,
                               void *context);
    void (*cancel)(struct http_transport *transport, struct http_call *call);
    void (*free)(struct http_transport *transport);
};

struct http_transport {
    const struct http_transport_ops *ops;
};

/* Starts a call. The request is copied. If `timeout_ms` is 0, the call has no time limit, which
 * streamed responses such as watches need. */
struct http_call *http_start(struct http_transport *transport, const struct http_request *request,
                             int64_t timeout_ms, const struct http_callbacks *callbacks,
                             void *context);
/* Cancels a call. No callback of the call is called after this. Must not be called after on_end. */
void http_cancel(struct http_transport *transport, struct http_call *call);
/* Cancels all calls and frees the transport. May be called from within a callback. NULL-safe;
 * returns NULL. */
struct http_transport *http_transport_free(struct http_transport *transport);

struct loop;
/* Creates an in-process transport. It calls `handler` and delivers the response from the loop,
 * never from within http_start(). If `bearer` is not NULL, each request without an Authorization
 * header gets it as its bearer token. */
struct http_transport *http_local_new(struct loop *loop, http_handler *handler, void *context,
                                      const char *bearer);

#endif

/* HTTP as the rest of the program sees it: requests, answers that stream, and the two ends of an
 * exchange.
 *
 * A server is a function: it gets an exchange and answers it, now or later, whole or in pieces. A
 * transport is the client's end: it starts a call and reports headers, pieces and the end. An https
 * connection is one way between the two (http_server.c, http_client.c); a direct call in the same
 * process is another (http_local.c). Neither end can tell which it has, which is how the same
 * controllers run in our process and in a cluster.
 */
#ifndef TRAINYARD_NET_HTTP_H
#define TRAINYARD_NET_HTTP_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_header {
    const char *name; /* as it was sent; compared without case */
    const char *value;
    struct http_header *next;
};

struct http_request {
    const char *method; /* "GET" */
    const char *path;   /* percent-decoded, without the query: "/api/v1/pods" */
    const char *query;  /* as sent, without '?'; "" if none */
    struct http_header *headers;
    const char *body; /* whole; limited by the server */
    size_t body_size;
    const char *peer; /* who asks, for logs: "127.0.0.1:40112", "in-process" */
};

const char *http_header_get(const struct http_header *headers, const char *name);
void http_header_add(struct arena *arena, struct http_header **headers, const char *name,
                     const char *value);
/* Whether one of the lines of this name has the word between its commas; no case. */
bool http_header_has_word(const struct http_header *headers, const char *name, const char *word);

/* The decoded value of a query parameter, in the arena; NULL when absent, "" when empty. The nth
 * form gives repeated parameters (command=a&command=b). */
const char *http_query_get(struct arena *arena, const char *query, const char *name);
const char *http_query_get_nth(struct arena *arena, const char *query, const char *name, size_t n);
/* Whether a parameter is on: it is there, and neither "0" nor "false" in whatever case, as in
 * Kubernetes. */
bool http_query_flag(const char *query, const char *name);
char *http_query_encode(struct arena *arena, const char *value);
/* A path for the request line: what may not stand there is escaped, '/' stays. */
char *http_path_encode(struct arena *arena, const char *path);
/* Percent-decode `size` bytes; '+' is a space where asked. What is no valid escape, and an escaped
 * NUL, stays as it is. The result is never longer than the input. */
char *http_percent_decode(struct arena *arena, const char *text, size_t size, bool plus_is_space);

const char *http_status_text(int status);

/* ---- The server's end ------------------------------------------------------------------------ */

struct http_exchange;
struct stream;

struct http_exchange_ops {
    void (*begin)(struct http_exchange *exchange, int status, const struct http_header *headers,
                  int64_t length); /* length -1: unknown (chunked) */
    void (*write)(struct http_exchange *exchange, const void *data, size_t size);
    void (*end)(struct http_exchange *exchange);
    void (*abort)(struct http_exchange *exchange);                /* NULL: the same as end */
    bool (*reserve)(struct http_exchange *exchange, size_t size); /* NULL: there is no limit */
    size_t (*pending)(struct http_exchange *exchange); /* bytes not yet taken by the peer */
    /* NULL: there is no connection to hand over. */
    struct stream *(*upgrade)(struct http_exchange *exchange, const char *protocol,
                              const struct http_header *headers);
};

/* One request and its answer. The answerer must call http_end() exactly once, except after
 * `on_cancel`, which says that the peer left: then nothing more may be called and the exchange is
 * gone when on_cancel returns. The arena and the request live until then. */
struct http_exchange {
    const struct http_exchange_ops *ops;
    const struct http_request *request;
    struct arena *arena;
    bool arena_is_lent; /* set by an answerer while another thread uses the arena */
    const char *user;   /* set by the admission or the answerer after authentication */
    /* For an http_server's admission (net/http/server.h) to set. */
    size_t body_max;       /* the longest body it accepts; before it the server's limit */
    const void *admission; /* what it found out, for the handler; NULL: no admission took place */
    bool in_process;       /* the peer is in this process and takes everything in the next turn */
    void (*on_cancel)(
        struct http_exchange *exchange);              /* set by an answerer that streams, or NULL */
    void (*on_drain)(struct http_exchange *exchange); /* pending() fell to nothing, or NULL */
    void *context;                                    /* the answerer's own */
    bool begun;
    bool ended;
};

typedef void http_handler(struct http_exchange *exchange, void *context);

void http_begin(struct http_exchange *exchange, int status, const char *content_type,
                const struct http_header *more, int64_t length);
void http_write(struct http_exchange *exchange, const void *data, size_t size);
void http_end(struct http_exchange *exchange);
/* Ends an answer that cannot be completed: the peer must not take it for whole, so its connection
 * is closed. Instead of http_end(). */
void http_abort(struct http_exchange *exchange);
/* Counts the bytes that the answerer holds, or is about to hold, in all: for the tree of a body
 * before it reads the body, or for an answer that it makes over several turns of the loop. Replaces
 * the number of an earlier call. Returns false if there is no room for them or the client is gone;
 * the answerer then frees them and answers with 429, the message HTTP_NO_MEMORY and the header
 * "Retry-After: HTTP_RETRY_AFTER_S". */
bool http_reserve(struct http_exchange *exchange, size_t size);
#define HTTP_NO_MEMORY     "the server holds as much for its clients as it may: try again later"
#define HTTP_RETRY_AFTER_S "1"
size_t http_pending(struct http_exchange *exchange);

/* Answer with "101 Switching Protocols" and take the connection: `ret` is the line to the peer,
 * with what it sent ahead still in it, and must be started before the handler returns to the loop.
 * The exchange ends as by http_end(). Needs an exchange that has not begun, of a peer that asked
 * for the protocol; fails, with the exchange still to be answered, where there is no connection:
 * in-process.
 */
int http_upgrade(struct http_exchange *exchange, const char *protocol,
                 const struct http_header *headers, struct stream **ret, struct err *err);

/* A whole answer in one call. */
void http_respond(struct http_exchange *exchange, int status, const char *content_type,
                  const void *body, size_t size);

/* ---- The client's end ------------------------------------------------------------------------ */

struct http_call;

/* What a caller wants to hear; any may be NULL but on_end, which is called exactly once unless the
 * call is cancelled: err is NULL if the answer came to its end. Never called from within
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

/* The request is copied. timeout_ms 0: none (streams). */
struct http_call *http_start(struct http_transport *transport, const struct http_request *request,
                             int64_t timeout_ms, const struct http_callbacks *listener,
                             void *context);
/* Nothing is reported any more, also not on_end. Not after on_end: then there is no call. */
void http_cancel(struct http_transport *transport, struct http_call *call);
/* Cancels what is under way; also from within a listener. */
struct http_transport *http_transport_free(struct http_transport *transport);

/* The in-process transport: calls `handler` directly, delivers in later turns of the loop. `bearer`
 * is sent as the Authorization of each request, as a client over https would. */
struct loop;
struct http_transport *http_local_new(struct loop *loop, http_handler *handler, void *context,
                                      const char *bearer);

#endif

/* One HTTP/1.1 connection of a server on any stream: requests are parsed one after another, passed
 * to the handler as exchanges, and answered in their order. Included by the files of the server
 * only. */
#ifndef TRAINYARD_NET_HTTP_CONNECTION_H
#define TRAINYARD_NET_HTTP_CONNECTION_H

#include "base/budget.h"
#include "base/list.h"
#include "base/state_machine.h"
#include "loop/loop.h"
#include "net/http/parse.h"
#include "net/http/server.h"
#include "net/stream/stream.h"

struct http_response;
struct http_connection;

enum { HTTP_DATE_MAX = 32 };

/* The stream that the caller of http_upgrade() gets. It uses the connection's own stream, delivers
 * first the bytes that were read before the upgrade, and counts as a connection of the server until
 * it ends. */
struct http_upgrade {
    struct stream stream;
    struct loop_task task; /* delivers the bytes that were read before the upgrade */
    bool opened, paused, end_told;
    bool left; /* the owner closed or finished the stream: only on_closed is called any more */
};

/* The state that all connections of a server share. */
struct http_service {
    struct loop *loop;
    http_handler *handler;
    http_handler *admit; /* may be NULL */
    void *context;
    size_t header_max, body_max;
    struct budget_group *memory; /* budget of the bytes that connections keep; NULL: no limit */
    http_write_refusal *write_refusal; /* may be NULL */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    /* struct http_connection, the one that was accepted or served last first. */
    struct list_head connections;
    size_t connection_count;
    void (*on_closed)(struct http_service *service); /* a connection was freed */
    int64_t date_second;                             /* the second that `date` stands for */
    char date[HTTP_DATE_MAX];
};

struct http_connection {
    struct http_service *service;
    struct list_link link; /* in service->connections */
    struct stream *stream;
    char *peer;
    struct state_machine life;
    struct loop_timer timer; /* limits the current state: handshake, header, body or idle time */
    struct loop_task task;   /* continues with the next request in a turn of its own */
    struct http_parse parse;
    struct buf in;       /* bytes of further requests, received while one is answered */
    struct arena *spare; /* kept for the next request */
    /* The response to the request whose header is complete, or NULL. */
    struct http_response *response;
    struct budget_payer *payer; /* the payer that `kept` belongs to; NULL: nothing is charged */
    struct budget kept;         /* the budget charged for the following bytes */
    size_t in_bytes;            /* bytes of the request that is being read or answered */
    size_t ahead_bytes;         /* bytes of requests that were sent ahead */
    size_t response_bytes; /* bytes that the handler reserved, or of a response that is about to be
                            written */
    size_t out_bytes;      /* upper bound of the bytes of responses that are not sent yet */
    bool peer_ended;       /* the peer sends no more, but may still read */
    bool in_handler;
    struct http_upgrade upgrade; /* after an upgrade: the stream of the new protocol */
};

/* Takes the stream. The connection frees itself when the stream is closed, and tells the service.
 */
void http_connection_new(struct http_service *service, struct stream *stream, const char *peer);

/* Cancels the exchange and closes the connection at once. */
void http_connection_close(struct http_connection *connection);

/* Called by the response when its last byte is written. The connection frees the response, in a
 * later turn of the loop if the handler is still running. */
void http_connection_response_ended(struct http_connection *connection);

/* The stream is closed: removes and frees the connection. */
void http_connection_gone(struct http_connection *connection);

/* Called by the response when its "101" is written: from here on the connection belongs to the new
 * protocol. Returns its stream. */
struct stream *http_connection_upgrade(struct http_connection *connection);
/* The parts of the upgrade that connection.c calls. */
void http_upgrade_init(struct http_connection *connection);
void http_upgrade_cancel(struct http_connection *connection);

/* ---- memory.c: the bytes that the connection is charged for */

/* The parser has taken bytes. Returns false if there is no room for them: the request must be
 * refused. */
bool http_connection_keep_request(struct http_connection *connection);
/* The connection has received bytes of the next request. Returns false if there is no room for
 * them: the connection must be closed. */
bool http_connection_keep_ahead(struct http_connection *connection);
/* The handler has returned, but the response is not complete yet. */
void http_connection_keep_handled(struct http_connection *connection);
/* A response of this size is being made or about to be written. Returns false if there is no room
 * for it. */
bool http_connection_keep_response(struct http_connection *connection, size_t size);
/* The response has written bytes. */
void http_connection_keep_written(struct http_connection *connection);
/* With `sent`, all responses are sent; otherwise the request is complete. Reduces the charge
 * accordingly. */
void http_connection_keep_less(struct http_connection *connection, bool sent);
/* Ends the charges to the current payer, because the next request may be another user's. */
void http_connection_forget_payer(struct http_connection *connection);
/* Refuses the request that is being read with 429, or closes the connection if its response has
 * begun. */
void http_connection_end_for_memory(struct http_connection *connection);

/* Initializes `body` and writes the body of a response that comes from the server, not from a
 * handler. Returns its content type. */
const char *http_service_refusal(struct http_service *service, int status, const char *sentence,
                                 struct buf *body);

/* Closes the connection that has waited longest without a complete request header. Returns false if
 * every connection has a request that is being read or answered. */
bool http_service_drop_waiting(struct http_service *service);

/* The Date header, "Sun, 15 Nov 2026 02:00:00 GMT", made once per second. */
const char *http_service_date(struct http_service *service);

#endif

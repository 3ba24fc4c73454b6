/* One HTTP/1.1 connection of a server, on any stream. It parses requests one after another, passes
 * them to the handler as exchanges, and sends the responses in the order of the requests. Included
 * by the files of the server only. */
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

/* The stream that http_upgrade() returns. It first delivers the bytes that were read before the
 * upgrade, then the bytes of the connection's own stream. It counts as a connection of the server
 * until it is closed. */
struct http_upgrade {
    struct stream stream;
    struct loop_task task; /* delivers the bytes that were read before the upgrade */
    bool opened;           /* on_open was called */
    bool paused;           /* the owner has paused the stream */
    bool end_reported;     /* on_end was called */
    bool finished; /* the owner or the server has ended the stream; only on_closed may follow */
};

/* The state that all connections of a server share. */
struct http_service {
    struct loop *loop;
    http_handler *handler;
    http_handler *admit; /* may be NULL */
    void *context;
    size_t header_max, body_max;
    struct budget_group *memory;       /* budget for the memory of connections; NULL: no limit */
    http_write_refusal *write_refusal; /* may be NULL */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    /* struct http_connection. The list starts with the connection that was accepted or served most
     * recently. */
    struct list_head connections;
    size_t connection_count;
    void (*on_closed)(struct http_service *service); /* called after a connection was freed */
    int64_t date_second;                             /* the second for which `date` was formatted */
    char date[HTTP_DATE_MAX];
};

struct http_connection {
    struct http_service *service;
    struct list_link link; /* in service->connections */
    struct stream *stream;
    char *peer;
    struct state_machine life;
    struct loop_timer timer; /* time limit of the current state: handshake, header, body or idle */
    struct loop_task task;   /* continues with the next request in a later turn */
    struct http_parse parse;
    struct buf in; /* bytes of later requests, received before the current response is complete */
    struct arena *spare; /* an empty arena for the next request, or NULL */
    /* The response to the request whose header is complete, or NULL. */
    struct http_response *response;
    /* The user or address that pays for the memory of this connection: the parent of `charged`.
     * NULL: nothing is charged. */
    struct budget_payer *payer;
    struct budget charged; /* the budget to which the next four fields are charged */
    size_t in_bytes;       /* bytes of the current request */
    size_t ahead_bytes;    /* bytes of `in` */
    size_t response_bytes; /* bytes that the handler has reserved, or size of the response that it
                              writes next */
    size_t out_bytes;      /* upper bound of the bytes of unsent responses */
    bool peer_ended;       /* the peer has closed its sending side, but may still read */
    bool in_handler;       /* the handler or the admission function is running */
    struct http_upgrade upgrade; /* the stream of the new protocol; used after an upgrade */
};

/* Takes ownership of the stream. When the stream is closed, the connection frees itself and calls
 * service->on_closed. */
void http_connection_new(struct http_service *service, struct stream *stream, const char *peer);

/* Cancels the exchange and closes the connection at once. */
void http_connection_close(struct http_connection *connection);

/* Called by the response when its last byte is written. The connection frees the response later,
 * after the handler has returned. */
void http_connection_response_ended(struct http_connection *connection);

/* Removes and frees the connection. Called when its stream is closed. */
void http_connection_gone(struct http_connection *connection);

/* Called by the response when its "101 Switching Protocols" is written. Returns the stream for the
 * new protocol. */
struct stream *http_connection_upgrade(struct http_connection *connection);

/* ---- upgrade.c: functions that connection.c calls */

/* Initializes the stream for the new protocol and takes over the callbacks of the connection's
 * stream. */
void http_upgrade_init(struct http_connection *connection);
/* Reports to the new protocol that the server closes the connection. Does nothing if the owner has
 * ended the stream. */
void http_upgrade_cancel(struct http_connection *connection);

/* ---- memory.c: the bytes that are charged to the connection's payer */

/* Updates the charge after the parser has received bytes. Returns false if there is no room; then
 * the caller must refuse the request. */
bool http_connection_charge_request(struct http_connection *connection);
/* Updates the charge after bytes of later requests were received. Returns false if there is no
 * room; then the caller must close the connection. */
bool http_connection_charge_ahead(struct http_connection *connection);
/* Updates the charge after the handler has returned without completing the response. */
void http_connection_charge_handled(struct http_connection *connection);
/* Charges a response of this size before it is created or written. Returns false if there is no
 * room. */
bool http_connection_charge_response(struct http_connection *connection, size_t size);
/* Updates the charge after the response has written bytes. */
void http_connection_charge_written(struct http_connection *connection);
/* Reduces the charge. `sent` true: all responses are sent, so their bytes are not charged any more.
 * `sent` false: the request is answered, so its bytes and the reserved bytes are not charged any
 * more. */
void http_connection_reduce_charge(struct http_connection *connection, bool sent);
/* Ends all charges to the current payer. Called when the user of a request becomes known, when
 * nothing is charged any more, and when the connection is upgraded, closed or ended to free memory.
 */
void http_connection_forget_payer(struct http_connection *connection);
/* Ends the connection to free its memory. If a request is being read, refuses it with 429;
 * otherwise closes the connection at once. */
void http_connection_end_for_memory(struct http_connection *connection);

/* Writes the body of an error response that the server sends instead of a response of the handler.
 * Initializes `body`, which the caller releases. Returns the content type. */
const char *http_service_refusal(struct http_service *service, int status, const char *sentence,
                                 struct buf *body);

/* Closes the connection that has waited longest without a complete request header. Returns false if
 * there is no such connection. */
bool http_service_drop_waiting(struct http_service *service);

/* Returns the value of the Date header, "Sun, 15 Nov 2026 02:00:00 GMT". It is formatted once per
 * second. */
const char *http_service_date(struct http_service *service);

#endif

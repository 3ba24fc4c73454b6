/* One HTTP/1.1 connection of a server on any stream: requests are read one after another, handed to
 * the handler as exchanges, and answered in their order. Seen by the files of the server only. */
#ifndef TRAINYARD_NET_HTTP_CONNECTION_H
#define TRAINYARD_NET_HTTP_CONNECTION_H

#include "base/budget.h"
#include "base/state_machine.h"
#include "loop/loop.h"
#include "net/http/parse.h"
#include "net/http/server.h"
#include "net/stream/stream.h"

struct http_response;
struct http_connection;

enum { HTTP_DATE_MAX = 32 };

/* The line that an upgrader gets: it stands on the connection's own stream, gives first what was
 * read ahead, and is counted among the server's connections until it ends. */
struct http_upgrade {
    struct stream stream;
    struct loop_task task; /* give what was read ahead */
    bool opened, paused, end_told;
    bool left; /* the upgrader closed or finished it: only on_closed is told any more */
};

/* What all connections of a server have in common. */
struct http_service {
    struct loop *loop;
    http_handler *handler;
    http_handler *admit; /* or NULL */
    void *context;
    size_t header_max, body_max;
    struct budget_group *memory;       /* for all that connections keep; NULL: no limit */
    http_write_refusal *write_refusal; /* or NULL */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    struct http_connection *connections; /* those that came or were served last first */
    size_t connection_count;
    void (*on_closed)(struct http_service *service); /* a connection is gone */
    int64_t date_second;                             /* of the text below */
    char date[HTTP_DATE_MAX];
};

struct http_connection {
    struct http_service *service;
    struct http_connection *next, **link; /* in service->connections */
    struct stream *stream;
    char *peer;
    struct state_machine life;
    struct loop_timer timer; /* what the state allows: handshake, header, body or idleness */
    struct loop_task task;   /* go on with requests in a turn of its own */
    struct http_parse parse;
    struct buf in;                /* of the requests to come, while one is answered */
    struct arena *spare;          /* for the next request */
    struct http_response *answer; /* of the request whose header is complete, or NULL */
    struct budget_payer *payer;   /* whose account `kept` is on; NULL: nothing is charged */
    struct budget kept;           /* charged for the bytes below */
    size_t in_bytes;              /* of the request that is read or answered */
    size_t ahead_bytes;           /* of requests that were sent ahead */
    size_t answer_bytes;          /* that the handler reserved, or of an answer to be written */
    size_t out_bytes;             /* of answers, at most, since all was sent last */
    bool peer_ended;              /* sends no more, but may still read */
    bool in_handler;
    struct http_upgrade upgrade; /* after it, another protocol's line */
};

/* Takes the stream; the connection frees itself when that is closed, and tells the service. */
void http_connection_new(struct http_service *service, struct stream *stream, const char *peer);

/* Cancel the exchange and close, at once. */
void http_connection_close(struct http_connection *connection);

/* From the answer: its last byte is written. It is freed by the connection, in a later turn if the
 * answerer still runs. */
void http_connection_response_ended(struct http_connection *connection);

/* The stream is closed: take the connection out of the world. */
void http_connection_gone(struct http_connection *connection);

/* From the answer: its "101" is written, and from here on the connection is the upgrader's. */
struct stream *http_connection_upgrade(struct http_connection *connection);
/* The parts of it that http_connection.c needs. */
void http_upgrade_init(struct http_connection *connection);
void http_upgrade_cancel(struct http_connection *connection);

/* ---- http_memory.c: the connection's account */

/* The parser has taken bytes. False: there is no room for them, refuse the request. */
bool http_connection_keep_request(struct http_connection *connection);
/* So is with bytes that come before their time. False: close. */
bool http_connection_keep_ahead(struct http_connection *connection);
/* The handler has returned, and the answer is still to come. */
void http_connection_keep_handled(struct http_connection *connection);
/* An answer that is being made, or about to be written, has this size. False: there is no room for
 * it. */
bool http_connection_keep_response(struct http_connection *connection, size_t size);
/* Bytes have been written. */
void http_connection_keep_written(struct http_connection *connection);
/* All answers are sent, or else the request is through. */
void http_connection_keep_less(struct http_connection *connection, bool sent);
/* The next request may be another user's. */
void http_connection_forget_payer(struct http_connection *connection);
/* Refuse the request that is being read with 429, or close if its answer has begun. */
void http_connection_end_for_memory(struct http_connection *connection);

/* The body of an answer that no handler gives: initializes `body`, and returns its type. */
const char *http_service_refusal(struct http_service *service, int status, const char *sentence,
                                 struct buf *body);

/* Close the connection that has gone for the longest time without a whole request's head; false if
 * a request of each is being read or answered. */
bool http_service_drop_waiting(struct http_service *service);

/* "Sun, 15 Nov 2026 02:00:00 GMT", made once a second. */
const char *http_service_date(struct http_service *service);

#endif

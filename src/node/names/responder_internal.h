/* Shared by the files of the responder: responder.c answers queries, responder_connection.c serves
 * clients over TCP, and responder_forward.c asks the machine's name servers. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H
#define TRAINYARD_NODE_NAMES_RESPONDER_INTERNAL_H

#include "base/list.h"
#include "base/system/file.h"
#include "node/names/answer.h"
#include "node/names/resolvers.h"
#include "node/names/responder.h"
#include "node/step/helper/epoll_watch.h"

enum {
    RESPONDER_PREFIX = 2,         /* bytes of the length field before a message over TCP */
    RESPONDER_QUERY_MAX = 4096,   /* bytes of a query, which has a name and an OPT record */
    RESPONDER_FORWARDS_MAX = 512, /* queries forwarded and not answered yet */
};

struct responder {
    struct responder_options options;
    int epoll_fd;
    struct epoll_watch udp, tcp;
    struct names_table table;
    struct list_head connections; /* struct responder_connection, the earliest deadline first */
    struct list_head forwards;    /* struct forward, the earliest deadline first */
    /* Freed at the end of responder_run(), because epoll may have reported more events for them. */
    struct list_head closed_connections, ended_forwards;
    size_t connection_count, forward_count; /* of `connections` and of `forwards` */
    int64_t accept_ms; /* the time to accept connections again; 0 means that accepting goes on */
    struct resolver resolvers[RESOLVERS_MAX];
    size_t resolver_count;
    struct file_stamp resolv_stamp; /* the version of resolv.conf that `resolvers` was read from */
    uint8_t scratch[DNS_TCP_MAX];   /* the answer that is being computed */
};

/* The client that sent a query. */
struct responder_connection;
struct responder_client {
    /* The client's TCP connection. NULL for UDP, and after the connection was closed. */
    struct responder_connection *connection;
    bool over_tcp;
    struct sockaddr_in peer; /* the client's address, for UDP */
};

int64_t responder_now_ms(const struct responder *responder);
/* Returns the maximum size of an answer to this client. */
size_t responder_answer_max(const struct responder_client *client, const struct dns_query *query);
/* Sends a message to the client. If that fails, drops the message: the client asks again. */
void responder_send(struct responder *responder, const struct responder_client *client,
                    const void *data, size_t size);
/* Handles a message from a client, which should be a query. */
void responder_handle(struct responder *responder, const struct responder_client *client,
                      const void *data, size_t size);
/* Answers with a code and no records. `is_cut` tells the client to ask again over TCP. */
void responder_answer_code(struct responder *responder, const struct responder_client *client,
                           const struct dns_query *query, enum dns_rcode rcode, bool is_cut);

/* ---- responder_connection.c */
/* Accepts one connection. */
void responder_accept(struct epoll_watch *watch, uint32_t events);
/* Sends a message after its length. Closes the connection if too many bytes wait to be sent. */
void responder_connection_send(struct responder_connection *connection, const void *data,
                               size_t size);
/* Counts a forwarded query whose answer the connection waits for. Returns false if the connection
 * already waits for the maximum number of answers. */
bool responder_connection_begin_wait(struct responder_connection *connection);
/* Must be called when a query that responder_connection_begin_wait() has counted has ended. */
void responder_connection_end_wait(struct responder_connection *connection);
/* Closes idle connections, and accepts connections again after a pause. */
void responder_connections_expire(struct responder *responder, int64_t now_ms);
/* Returns the next time at which a connection is idle for too long; 0 if there is none. */
int64_t responder_connections_deadline(const struct responder *responder);
/* Frees the closed connections. */
void responder_connections_free_closed(struct responder *responder);
/* Closes and frees all connections. */
void responder_connections_end(struct responder *responder);

/* ---- responder_forward.c */
/* Forwards the query to the machine's name servers. Answers the client later, or at once with
 * SERVFAIL if the query cannot be forwarded. `name` replaces the name in the query, unless NULL. */
void responder_forward(struct responder *responder, const struct responder_client *client,
                       const struct dns_query *query, size_t query_size, const char *name);
/* Drops the forwarded queries of a connection that is closed. */
void responder_forwards_drop(struct responder *responder,
                             const struct responder_connection *connection);
/* Asks the next server about each query that was not answered in time. */
void responder_forwards_expire(struct responder *responder, int64_t now_ms);
/* Returns the next time at which a server has not answered in time; 0 if there is none. */
int64_t responder_forwards_deadline(const struct responder *responder);
/* Frees the forwarded queries that have ended. */
void responder_forwards_free_ended(struct responder *responder);
/* Ends and frees all forwarded queries without an answer. */
void responder_forwards_end(struct responder *responder);

#endif

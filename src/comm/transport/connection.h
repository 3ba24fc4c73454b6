/* A connection between two tasks, plain or encrypted, with the same functions for both. The owner
 * may poll the descriptor of a connection only after a call that returned -EAGAIN: an encrypted
 * connection may have buffered bytes that it has already read from the descriptor. Made by
 * handshake; used by rendezvous, by peer_discovery, by control*.c, by the tcp transport and by
 * ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_CONNECTION_H
#define TRAINYARD_COMM_TRANSPORT_CONNECTION_H

#include "comm/transport/socket.h"
#include "tls/tls.h"

struct connection {
    int fd;                 /* -1: no connection */
    struct tls_stream *tls; /* NULL: not encrypted */
};

#define CONNECTION_NONE ((struct connection){.fd = -1})

/* Like socket_recv() and socket_send(), but also return -EBADMSG if TLS failed (tls_stream_recv()).
 * If connection_send() returns -EAGAIN, the caller must later send the same bytes again, optionally
 * followed by more: some of them may already be encrypted. */
static inline ssize_t connection_recv(struct connection *connection, void *data, size_t size)
{
    return connection->tls ? tls_stream_recv(connection->tls, data, size)
                           : socket_recv(connection->fd, data, size);
}

static inline ssize_t connection_send(struct connection *connection, const void *data, size_t size)
{
    return connection->tls ? tls_stream_send(connection->tls, data, size)
                           : socket_send(connection->fd, data, size);
}

/* The connections of a group, made by rendezvous. CONNECTION_NONE takes the place of a connection
 * that was moved out with connection_take(). */
struct connection_set {
    int size;                   /* number of members */
    int channels;               /* number of data connections to each neighbour in the ring */
    struct connection *control; /* by rank; CONNECTION_NONE for this member */
    /* By rank, for data between any two members. NULL in a group of less than 3 or more than 64
     * members. */
    struct connection *pairs;
    /* One per channel: `left` receives data from the previous rank, `right` sends data to the next
     * rank. All are CONNECTION_NONE in a group of one member. */
    struct connection *left, *right;
};

/* Closes all remaining connections and frees the arrays. Safe on zeroed memory. */
void connection_set_release(struct connection_set *set);

/* Returns the connection and sets *connection to CONNECTION_NONE. */
struct connection connection_take(struct connection *connection);

/* Closes the descriptor and sets *connection to CONNECTION_NONE. Safe on CONNECTION_NONE. */
void connection_close(struct connection *connection);

/* Creates the TLS context that all encrypted connections of a process share. The caller frees *ret
 * with tls_stream_context_free(). */
int connection_encryption_new(struct tls_stream_context **ret, struct err *err);

#endif

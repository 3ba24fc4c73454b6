/* One connection between two tasks, plain or encrypted; both behave alike. The owner polls its
 * descriptor, but only after a call that returned -EAGAIN: an encrypted connection may hold bytes
 * that it has already read from the descriptor. Made by handshake; used by peer_discovery, by the
 * control plane, by the tcp transport and by ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_CONNECTION_H
#define TRAINYARD_COMM_TRANSPORT_CONNECTION_H

#include "comm/transport/socket.h"
#include "tls/tls.h"

struct connection {
    int fd;                 /* -1: none */
    struct tls_stream *tls; /* NULL: not encrypted */
};

#define CONNECTION_NONE ((struct connection){.fd = -1})

/* Like socket_recv() and socket_send(). After -EAGAIN the caller must send the same bytes again,
 * and at least as many: some of them may already be encrypted. */
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

/* The connections of a group, as rendezvous makes them. A connection that was taken out is
 * CONNECTION_NONE. */
struct connection_set {
    int size, channels;
    struct connection *control; /* by rank; the own one is none */
    /* By rank, for data between any two members. NULL in a group of less than 3 members, or of very
     * many. */
    struct connection *pairs;
    /* One per channel: data from the previous rank, and data to the next one. All are none in a
     * group of one member. */
    struct connection *left, *right;
};

/* Closes all that are left. Safe on zeroed memory. */
void connection_set_release(struct connection_set *set);

/* Moves the connection out; `connection` is CONNECTION_NONE afterwards. */
struct connection connection_take(struct connection *connection);
/* Safe on CONNECTION_NONE. */
void connection_close(struct connection *connection);

/* The TLS context that all encrypted connections of a process share. The caller frees it with
 * tls_psk_free(). */
int connection_encryption_new(struct tls_psk **ret, struct err *err);

#endif

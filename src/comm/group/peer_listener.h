/* The listening socket of a task, and its pending peers: peers that have connected but not joined
 * yet. In an elastic group the socket stays open for the whole run. So a refused connection proves
 * that the process does not exist, and a new task can stay connected while the members train. Owned
 * by formation if the group is elastic, otherwise by one rendezvous. Rendezvous turns pending peers
 * into links. No function blocks. */
#ifndef TRAINYARD_COMM_GROUP_PEER_LISTENER_H
#define TRAINYARD_COMM_GROUP_PEER_LISTENER_H

#include "base/vec.h"
#include "comm/transport/handshake.h"

#include <trainyard/tf_config.h>

enum {
    PEER_LISTENER_ATTEMPT_MAX_MS = 10000, /* time for a connection attempt with its handshake */
    PEER_LISTENER_REASON_MAX = 256,
};

struct pending_peer {
    struct handshake handshake;
    char from[SOCKET_ADDRESS_TEXT_MAX]; /* address of the peer */
    /* deadline of the current part of the handshake (monotonic, ms) */
    int64_t ends;
    /* Rendezvous has accepted or rejected this peer after its authentication or, on rank 0 in the
     * master form, has recorded its address. */
    bool admitted;
    bool securing; /* the TLS handshake has begun */
};

struct peer_listener {
    int fd;                             /* -1: not listening */
    struct handshake_identity identity; /* identity of this task outside of a group */
    VEC(struct pending_peer *) pending_peers;
    /* The reason of the previous rejection. A rejection for the same reason is not reported
     * again. */
    char last_refusal[PEER_LISTENER_REASON_MAX];
};

/* Listens on the port of `self`, in a cluster of `size` tasks. With port 0 the kernel chooses a
 * port. Sets identity.listen_port. */
int peer_listener_open(struct peer_listener *peer_listener, const struct ty_task *self, int size,
                       struct err *err);
/* Closes the socket and all pending peers. Safe on zeroed memory with fd -1. */
void peer_listener_close(struct peer_listener *peer_listener);

/* Whether the listener can accept another connection, in a group of `size` members. If the number
 * of pending peers has reached its limit, the listener can accept a connection only if it can drop
 * a pending peer that is not authenticated. */
bool peer_listener_has_room(const struct peer_listener *peer_listener, uint32_t size);
/* Accepts the waiting connections for which there is room. Their handshakes are checked against
 * `identity`, which must outlive them. */
void peer_listener_accept(struct peer_listener *peer_listener,
                          const struct handshake_identity *identity, int64_t now);
/* Drops pending peers that have disconnected while they wait for a decision. */
void peer_listener_drop_departed(struct peer_listener *peer_listener);
/* Closes the connection of pending peer number `position` and frees the peer. The positions of
 * later peers decrease by 1. */
void peer_listener_dismiss(struct peer_listener *peer_listener, size_t position);
/* Whether `task` has been accepted for a discovery and its TLS handshake is in progress. */
bool peer_listener_is_securing(const struct peer_listener *peer_listener, int task);

/* Whether an authenticated task waits to join. Also continues the handshakes of all pending peers,
 * and rejects incompatible tasks. Never blocks. Must not be called while a group is being
 * formed. */
bool peer_listener_is_wanted(struct peer_listener *peer_listener, int64_t now);

#endif

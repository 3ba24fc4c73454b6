/* Implements the listening socket of a task and its pending peers; see peer_listener.h. */
#include "comm/group/peer_listener.h"

#include "comm/transport/socket.h"

#include <poll.h>
#include <string.h>

enum { PENDING_PEERS_MAX = 256 }; /* limit of pending peers, in addition to one per member */

int peer_listener_open(struct peer_listener *peer_listener, const struct ty_task *self, int size,
                       struct err *err)
{
    int result = socket_listen(self->port, strchr(self->host, ':') != NULL, size + 64,
                               &peer_listener->fd, err);
    if (result == 0)
        peer_listener->identity.listen_port = (uint16_t)socket_local_port(peer_listener->fd);
    return result;
}

void peer_listener_close(struct peer_listener *peer_listener)
{
    while (peer_listener->pending_peers.count)
        peer_listener_dismiss(peer_listener, peer_listener->pending_peers.count - 1);
    vec_release(&peer_listener->pending_peers);
    if (peer_listener->fd >= 0)
        close(peer_listener->fd);
    peer_listener->fd = -1;
}

static bool pending_peer_is_proven(const struct pending_peer *pending_peer)
{
    return pending_peer->handshake.state == HANDSHAKE_PROVEN ||
           pending_peer->handshake.state == HANDSHAKE_WRITE_VERDICT ||
           pending_peer->handshake.state == HANDSHAKE_SECURING;
}

/* Whether one more connection can be accepted. Sets *ret_evict to the pending peer that must be
 * dropped first, or to -1. */
static bool listener_find_room(const struct peer_listener *peer_listener, uint32_t size,
                               ssize_t *ret_evict)
{
    *ret_evict = -1;
    if (peer_listener->pending_peers.count < PENDING_PEERS_MAX + (size_t)size)
        return true;
    for (size_t i = 0; i < peer_listener->pending_peers.count; i++)
        if (!pending_peer_is_proven(peer_listener->pending_peers.items[i])) {
            *ret_evict = (ssize_t)i;
            return true;
        }
    return false;
}

bool peer_listener_has_room(const struct peer_listener *peer_listener, uint32_t size)
{
    ssize_t evict;
    return peer_listener->fd >= 0 && listener_find_room(peer_listener, size, &evict);
}

/* When the limit is reached, drops the oldest pending peer that is not authenticated. So a flood of
 * connections cannot exclude authenticated members. */
void peer_listener_accept(struct peer_listener *peer_listener,
                          const struct handshake_identity *identity, int64_t now)
{
    ssize_t evict;
    for (int taken = 0; taken < PENDING_PEERS_MAX && peer_listener->fd >= 0 &&
                        listener_find_room(peer_listener, identity->size, &evict);
         taken++) {
        char from[SOCKET_ADDRESS_TEXT_MAX];
        int fd = socket_accept(peer_listener->fd, from);
        if (fd < 0)
            return;
        if (evict >= 0)
            peer_listener_dismiss(peer_listener, (size_t)evict);
        struct pending_peer *pending_peer = mem_zalloc(sizeof(*pending_peer));
        handshake_init_acceptor(&pending_peer->handshake, fd, identity);
        memcpy(pending_peer->from, from, sizeof(from));
        pending_peer->ends = now + PEER_LISTENER_ATTEMPT_MAX_MS;
        vec_push(&peer_listener->pending_peers, pending_peer);
    }
}

void peer_listener_dismiss(struct peer_listener *peer_listener, size_t position)
{
    handshake_release(&peer_listener->pending_peers.items[position]->handshake);
    free(peer_listener->pending_peers.items[position]);
    vec_remove(&peer_listener->pending_peers, position);
}

bool peer_listener_is_securing(const struct peer_listener *peer_listener, int task)
{
    for (size_t i = 0; i < peer_listener->pending_peers.count; i++) {
        const struct handshake *handshake = &peer_listener->pending_peers.items[i]->handshake;
        if (handshake->state == HANDSHAKE_SECURING && handshake->hello.generation == 0 &&
            (int)handshake->hello.rank == task)
            return true;
    }
    return false;
}

void peer_listener_drop_departed(struct peer_listener *peer_listener)
{
    for (size_t i = 0; i < peer_listener->pending_peers.count;) {
        const struct handshake *handshake = &peer_listener->pending_peers.items[i]->handshake;
        struct pollfd state = {.fd = handshake->connection.fd, .events = POLLRDHUP};
        if ((handshake->state == HANDSHAKE_PROVEN || handshake->state == HANDSHAKE_EARLY) &&
            poll(&state, 1, 0) > 0)
            peer_listener_dismiss(peer_listener, i);
        else
            i++;
    }
}

bool peer_listener_is_wanted(struct peer_listener *peer_listener, int64_t now)
{
    bool wanted = false;
    peer_listener_accept(peer_listener, &peer_listener->identity, now);
    peer_listener_drop_departed(peer_listener);
    for (size_t i = 0; i < peer_listener->pending_peers.count;) {
        struct pending_peer *pending_peer = peer_listener->pending_peers.items[i];
        handshake_set_identity(&pending_peer->handshake, &peer_listener->identity);
        int result = handshake_progress(&pending_peer->handshake, NULL);
        bool proven = pending_peer->handshake.state == HANDSHAKE_PROVEN;
        enum wire_verdict verdict =
            proven ? handshake_judge_proven(&pending_peer->handshake) : WIRE_ACCEPTED;
        if (verdict != WIRE_ACCEPTED) {
            handshake_decide(&pending_peer->handshake, verdict, NULL, 0);
            (void)handshake_progress(&pending_peer->handshake, NULL);
            result = -ERR_FORBIDDEN;
        }
        if (result < 0 || (!proven && now >= pending_peer->ends)) {
            peer_listener_dismiss(peer_listener, i);
            continue;
        }
        wanted |= proven;
        i++;
    }
    return wanted;
}

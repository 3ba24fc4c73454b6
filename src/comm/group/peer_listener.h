/* Where others knock: the socket a task listens on, and those who have connected and are not
 * members yet. It stays open as long as the task takes part in a run, so that a task is either
 * there to be connected to or does not exist, and a newcomer may wait at it while the members are
 * at work. Owned by assembly, or by one rendezvous; guests are seated by rendezvous. */
#ifndef TRAINYARD_COMM_PEER_LISTENER_H
#define TRAINYARD_COMM_PEER_LISTENER_H

#include "base/vec.h"
#include "comm/transport/handshake.h"

#include <trainyard/tf_config.h>

enum {
    PEER_LISTENER_ATTEMPT_MAX_MS = 10000, /* from connecting to the end of a handshake */
    PEER_LISTENER_REASON_MAX = 256,
};

struct pending_peer {
    struct handshake handshake;
    char from[SOCKET_ADDRESS_TEXT_MAX];
    int64_t ends;  /* when it must have proved itself */
    bool admitted; /* it was judged: the rest is a matter of bytes */
    bool securing;
};

struct peer_listener {
    int fd;                             /* -1: nobody is expected to connect */
    struct handshake_identity identity; /* who this is between two groups */
    VEC(struct pending_peer *) pending_peers;
    char stranger[PEER_LISTENER_REASON_MAX]; /* why the last one was refused: the same is not said
                                                twice */
};

/* For a task of a cluster of `size`. */
int peer_listener_open(struct peer_listener *peer_listener, const struct ty_task *self, int size,
                       struct err *err);
void peer_listener_close(struct peer_listener *peer_listener); /* safe on memory that was zeroed but
                                                                  for a listener of -1 */

/* Whether it is worth waiting for somebody to connect, in a group of `size`. */
bool peer_listener_has_room(const struct peer_listener *peer_listener, uint32_t size);
/* Take in whoever has connected; they are judged as `identity`. */
void peer_listener_accept(struct peer_listener *peer_listener,
                          const struct handshake_identity *identity, int64_t now);
/* Guests that have done their part and left again must not be taken for present. */
void peer_listener_drop_departed(struct peer_listener *peer_listener);
void peer_listener_dismiss(struct peer_listener *peer_listener, size_t position);
/* Whether this task has been let in, and its connection is about to be an encrypted one. */
bool peer_listener_is_securing(const struct peer_listener *peer_listener, int task);

/* Without a forming under way: whether a task of this job has proved itself and waits to be let in.
 * Makes progress with those that are on the way there; never blocks. */
bool peer_listener_is_wanted(struct peer_listener *peer_listener, int64_t now);

#endif

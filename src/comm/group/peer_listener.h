/* Where others knock: the socket a task listens on, and those who have connected and are not
 * members yet. It stays open as long as the task takes part in a run, so that a task is either
 * there to be connected to or does not exist, and a newcomer may wait at it while the members are
 * at work. Owned by assembly, or by one rendezvous; guests are seated by rendezvous. */
#ifndef TRAINYARD_COMM_DOOR_H
#define TRAINYARD_COMM_DOOR_H

#include "base/vec.h"
#include "comm/transport/handshake.h"

#include <trainyard/tf_config.h>

enum {
    DOOR_ATTEMPT_MAX_MS = 10000, /* from connecting to the end of a handshake */
    DOOR_REASON_MAX = 256,
};

struct guest {
    struct handshake handshake;
    char from[SOCKET_ADDRESS_TEXT_MAX];
    int64_t ends;  /* when it must have proved itself */
    bool admitted; /* it was judged: the rest is a matter of bytes */
    bool securing;
};

struct door {
    int listener;                       /* -1: nobody is expected to connect */
    struct handshake_identity identity; /* who this is between two groups */
    VEC(struct guest *) guests;
    char stranger[DOOR_REASON_MAX]; /* why the last one was refused: the same is not said twice */
};

/* For a task of a cluster of `size`. */
int door_open(struct door *door, const struct ty_task *self, int size, struct err *err);
void door_close(struct door *door); /* safe on memory that was zeroed but for a listener of -1 */

/* Whether it is worth waiting for somebody to connect, in a group of `size`. */
bool door_has_room(const struct door *door, uint32_t size);
/* Take in whoever has connected; they are judged as `identity`. */
void door_accept(struct door *door, const struct handshake_identity *identity, int64_t now);
/* Guests that have done their part and left again must not be taken for present. */
void door_drop_departed(struct door *door);
void door_dismiss(struct door *door, size_t position);
/* Whether this task has been let in, and its connection is about to be an encrypted one. */
bool door_secures(const struct door *door, int task);

/* Without a forming under way: whether a task of this job has proved itself and waits to be let in.
 * Makes progress with those that are on the way there; never blocks. */
bool door_is_wanted(struct door *door, int64_t now);

#endif

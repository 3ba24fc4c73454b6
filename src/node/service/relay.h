/* Copies bytes between two TCP sockets, in both directions, until both have ended. A half-close is
 * passed on as a half-close, and a reset as a reset. Bytes that one side does not accept are
 * buffered, and nothing more is read from the other side meanwhile. So an idle pair has no buffer,
 * and a stalled pair buffers at most RELAY_PIECE bytes per direction. The relay copies bytes when
 * it is called, and returns the events to wait for. service/proxy.c watches the sockets. */
#ifndef TRAINYARD_NODE_SERVICE_RELAY_H
#define TRAINYARD_NODE_SERVICE_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELAY_PIECE = 256 * 1024,  /* bytes per read: the size of the caller's buffer */
    RELAY_PIECES_IN_A_ROW = 4, /* reads in a row before other pairs are served */
};

struct relay_flow {
    char *kept; /* bytes that the other side has not accepted yet, or NULL */
    size_t kept_from, kept_size;
    bool ended; /* the source has sent all its bytes */
    bool shut;  /* the end was passed on to the other side with shutdown() */
};

struct relay {
    int fds[2];
    struct relay_flow flows[2]; /* flows[i] goes from fds[i] to fds[!i] */
};

enum relay_result {
    RELAY_GOES_ON,
    RELAY_ENDED,  /* both sides have ended, and all bytes were passed on */
    RELAY_BROKEN, /* one side was reset; the other must be reset too */
};

/* The sockets must be non-blocking. The caller closes them. */
void relay_init(struct relay *relay, int a, int b);
void relay_release(struct relay *relay);

/* Copies as many bytes as possible. `piece` is a buffer of RELAY_PIECE bytes that many relays
 * share. */
enum relay_result relay_move(struct relay *relay, char *piece);

/* Returns the events to wait for on fds[side]: EPOLLIN, EPOLLOUT or both. */
uint32_t relay_events(const struct relay *relay, int side);

/* Must be called after an error or hangup of fds[side]. Returns true if the relay does not read
 * from this side now, so that no read would report the error. */
bool relay_is_deaf(const struct relay *relay, int side);

#endif

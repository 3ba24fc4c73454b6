/* Copies bytes between two TCP sockets, in both directions, until both sides have ended. The relay
 * passes on a half-close with shutdown(), and reports a reset to its caller. If one side does not
 * accept more bytes, the relay keeps the bytes that it has read, and reads no more from the other
 * side until they are sent. So an idle relay has no buffer, and a relay whose peer is slow keeps at
 * most RELAY_PIECE bytes per direction. The relay never waits: service/proxy_pair.c watches the
 * sockets and calls it. */
#ifndef TRAINYARD_NODE_SERVICE_RELAY_H
#define TRAINYARD_NODE_SERVICE_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELAY_PIECE = 256 * 1024, /* bytes per read, and the size of the caller's buffer */
    /* The maximum number of reads per direction and call of relay_move(), so that other relays are
     * served too. */
    RELAY_PIECES_PER_CALL = 4,
};

/* One direction of a relay. */
struct relay_flow {
    char *kept;                  /* bytes that the other side has not accepted yet, or NULL */
    size_t kept_from, kept_size; /* the position and number of these bytes in `kept` */
    bool ended;                  /* the source has sent all its bytes */
    bool shut;                   /* the end was passed on to the other side with shutdown() */
};

struct relay {
    int fds[2];
    struct relay_flow flows[2]; /* flows[i] goes from fds[i] to fds[!i] */
};

enum relay_result {
    RELAY_GOES_ON,
    RELAY_ENDED,  /* both sides have ended, and all bytes were passed on */
    RELAY_BROKEN, /* a connection has failed: the caller must reset both */
};

/* Begins to relay between two non-blocking sockets. The caller still owns and closes them. */
void relay_init(struct relay *relay, int a, int b);
void relay_release(struct relay *relay);

/* Copies the bytes that can be copied without waiting. `piece` is a buffer of RELAY_PIECE bytes
 * that many relays can share. */
enum relay_result relay_move(struct relay *relay, char *piece);

/* Returns the events after which relay_move() must be called: EPOLLIN and EPOLLOUT of fds[side]. */
uint32_t relay_events(const struct relay *relay, int side);

/* Returns true if the relay does not read from fds[side] now, because that side has ended or the
 * other side has not accepted its bytes yet. If epoll reports an error or hangup of a paused side,
 * the caller must end the relay, because no read would report the failure. */
bool relay_is_paused(const struct relay *relay, int side);

#endif

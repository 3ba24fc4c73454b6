/* Bytes between two TCP sockets, both ways, until both have ended: half an end is passed on as half
 * an end, a reset as a reset. What one side does not take is kept, and nothing more is read from
 * the other meanwhile, so an idle pair costs no memory and a stalled one at most RELAY_PIECE each
 * way. It moves bytes when told to and says what it waits for; who watches the sockets is
 * service/proxy.c's business. */
#ifndef TRAINYARD_NODE_SERVICE_RELAY_H
#define TRAINYARD_NODE_SERVICE_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELAY_PIECE = 256 * 1024,  /* of the caller's buffer: read in one go */
    RELAY_PIECES_IN_A_ROW = 4, /* then others are served */
};

struct relay_flow {
    char *kept; /* what the other side did not take yet, or NULL */
    size_t kept_from, kept_size;
    bool ended; /* nothing more comes; `shut` once the other side was told */
    bool shut;
};

struct relay {
    int fds[2];
    struct relay_flow flows[2]; /* [i]: from fds[i] to the other */
};

enum relay_result {
    RELAY_GOES_ON,
    RELAY_ENDED,  /* both sides have said all, and all was passed on */
    RELAY_BROKEN, /* one side was reset: the other is to be reset too */
};

/* The sockets stay the caller's, and do not block. */
void relay_init(struct relay *relay, int a, int b);
void relay_release(struct relay *relay);

/* Move what can be moved; `piece` is RELAY_PIECE bytes of scratch that many relays share. */
enum relay_result relay_move(struct relay *relay, char *piece);

/* What to wait for on fds[side]: EPOLLIN, EPOLLOUT or both. */
uint32_t relay_events(const struct relay *relay, int side);

/* The socket fds[side] has an error or is gone; true if reading from it would not tell. */
bool relay_is_deaf(const struct relay *relay, int side);

#endif

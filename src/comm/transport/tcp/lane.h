/* A lane: the share of one connection in a stream of pieces. It moves the bytes, rounds what is
 * sent and adds what is received on the way. Included by the files of this folder only. */
#ifndef TRAINYARD_COMM_TRANSPORT_TCP_LANE_H
#define TRAINYARD_COMM_TRANSPORT_TCP_LANE_H

#include "comm/transport/connection.h"
#include "comm/transport/transfer.h"

#include <sys/types.h>

enum { TCP_LANE_SCRATCH = 256 * 1024 };

struct tcp_lane {
    struct connection *connection;
    struct transfer_cursor cursor;
    uint8_t *scratch; /* TRANSPORT_TCP_SCRATCH bytes */
    /* The used part of the scratch: bytes that are rounded but not sent yet, or the received part
     * of an element. */
    size_t first, filled;
};

/* Whether all bytes of the lane have been sent or received. */
bool tcp_lane_is_done(const struct tcp_lane *lane);

/* Whether the lane can send now, if everything before `limit` in the stream is ready. A small part
 * of a piece is held back until the piece is complete, so that a slow connection upstream does not
 * cause many small packets downstream. */
bool tcp_lane_can_send(const struct tcp_lane *lane, size_t limit);

/* Send or receive for one turn. Return 1 if bytes moved, 0 if not, or a negative errno. */
int tcp_lane_send(struct tcp_lane *lane, size_t limit);
int tcp_lane_receive(struct tcp_lane *lane);

#endif

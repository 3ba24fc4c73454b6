/* A lane: the part of a stream of pieces that one connection carries. Sends and receives the bytes,
 * rounds sent floats to bfloat16, and adds received floats. Included by the files of this folder
 * only. */
#ifndef TRAINYARD_COMM_TRANSPORT_TCP_LANE_H
#define TRAINYARD_COMM_TRANSPORT_TCP_LANE_H

#include "comm/transport/connection.h"
#include "comm/transport/transfer.h"

#include <sys/types.h>

enum { TCP_LANE_SCRATCH = 256 * 1024 };

struct tcp_lane {
    struct connection *connection;
    struct transfer_cursor cursor;
    uint8_t *scratch; /* TCP_LANE_SCRATCH bytes */
    /* Start and end of the used part of `scratch`. It has rounded bytes that are not sent yet, or
     * the received part of an element. */
    size_t first, filled;
};

/* Whether all bytes of the lane have been sent or received. */
bool tcp_lane_is_done(const struct tcp_lane *lane);

/* Whether the lane can send now, if all bytes before position `limit` of the stream are ready. A
 * small part of a piece waits for more of the piece, so that a slow connection upstream does not
 * cause many small packets downstream. */
bool tcp_lane_can_send(const struct tcp_lane *lane, size_t limit);

/* Send or receive a limited number of bytes. Return 1 if bytes were moved, 0 if none were moved, or
 * a negative errno. */
int tcp_lane_send(struct tcp_lane *lane, size_t limit);
int tcp_lane_receive(struct tcp_lane *lane);

#endif

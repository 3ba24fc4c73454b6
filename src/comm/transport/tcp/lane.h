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
    uint8_t *scratch; /* TCP_LANE_SCRATCH bytes; may be NULL to send floats that are not rounded */
    /* Start and end of the used part of `scratch`. When sending, this part has rounded bytes that
     * are not sent yet. When receiving, it has the received part of one element. */
    size_t first, filled;
};

/* Whether all bytes of the lane have been sent or received. */
bool tcp_lane_is_done(const struct tcp_lane *lane);

/* Whether the lane can send now, if all bytes before position `limit` of the stream are ready. A
 * small part of a piece is not sent until more of the piece is ready, so that a slow sender in the
 * ring does not make the following members send many small packets. */
bool tcp_lane_can_send(const struct tcp_lane *lane, size_t limit);

/* Sends bytes before position `limit` without blocking, about 1 MiB at most per call. Returns 1 if
 * bytes were sent, 0 if none were sent, or a negative errno. */
int tcp_lane_send(struct tcp_lane *lane, size_t limit);
/* Receives about 1 MiB at most per call, without blocking. Returns like tcp_lane_send(). */
int tcp_lane_receive(struct tcp_lane *lane);

#endif

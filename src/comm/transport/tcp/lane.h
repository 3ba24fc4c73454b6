/* One connection's share of a stream of pieces: moving its bytes, rounding what is sent and adding
 * what is received on the way. Included by the files of this folder only. */
#ifndef TRAINYARD_COMM_TCP_LANE_H
#define TRAINYARD_COMM_TCP_LANE_H

#include "comm/transport/connection.h"
#include "comm/transport/transfer.h"

#include <sys/types.h>

enum { TCP_LANE_SCRATCH = 256 * 1024 };

struct tcp_lane {
    struct connection *connection;
    struct transfer_cursor cursor;
    uint8_t *scratch; /* TRANSPORT_TCP_SCRATCH bytes */
    size_t first,
        filled; /* of the scratch: rounded and not sent; or received and no whole element */
};

/* Whether anything is left to do for it at all. */
bool tcp_lane_is_done(const struct tcp_lane *lane);

/* Whether something can be sent when everything before `limit` in the stream is ready. Little is
 * held back until its piece is complete, so that a slow link upstream does not make many small
 * packets downstream. */
bool tcp_lane_can_send(const struct tcp_lane *lane, size_t limit);

/* Send or receive for a turn. Whether anything moved, or a negative errno. */
int tcp_lane_send(struct tcp_lane *lane, size_t limit);
int tcp_lane_receive(struct tcp_lane *lane);

#endif

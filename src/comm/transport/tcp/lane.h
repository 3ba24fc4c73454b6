/* One connection's share of a stream of pieces: moving its bytes, rounding what is sent and adding
 * what is received on the way. Included by transport_tcp*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_TCP_LANE_H
#define TRAINYARD_COMM_TRANSPORT_TCP_LANE_H

#include "comm/transport/connection.h"
#include "comm/transport/transfer.h"

#include <sys/types.h>

enum { TRANSPORT_TCP_SCRATCH = 256 * 1024 };

struct transport_tcp_lane {
    struct connection *link;
    struct ring_cursor cursor;
    uint8_t *scratch; /* TRANSPORT_TCP_SCRATCH bytes */
    size_t first,
        filled; /* of the scratch: rounded and not sent; or received and no whole element */
};

/* Whether anything is left to do for it at all. */
bool transport_tcp_lane_is_done(const struct transport_tcp_lane *lane);

/* Whether something can be sent when everything before `limit` in the stream is ready. Little is
 * held back until its piece is complete, so that a slow link upstream does not make many small
 * packets downstream. */
bool transport_tcp_lane_can_send(const struct transport_tcp_lane *lane, size_t limit);

/* Send or receive for a turn. Whether anything moved, or a negative errno. */
int transport_tcp_lane_send(struct transport_tcp_lane *lane, size_t limit);
int transport_tcp_lane_receive(struct transport_tcp_lane *lane);

#endif

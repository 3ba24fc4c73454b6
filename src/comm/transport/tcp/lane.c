/* Implements lanes; see lane.h. */
#include "comm/transport/tcp/lane.h"

#include "comm/transport/reduce.h"

#include <errno.h>
#include <string.h>

enum {
    /* Limit of bytes per call of tcp_lane_send() or tcp_lane_receive(), so that neither delays the
     * other. */
    BYTES_MAX = 1024 * 1024,
    /* A smaller part of a piece is not sent until more of the piece is ready. */
    SEND_MIN = 64 * 1024,
};

bool tcp_lane_is_done(const struct tcp_lane *lane)
{
    return lane->filled == lane->first && transfer_cursor_run(&lane->cursor) == 0;
}

/* Returns the number of bytes that may be sent now. */
static size_t lane_sendable(const struct tcp_lane *lane, size_t limit)
{
    const struct transfer_cursor *cursor = &lane->cursor;
    size_t size = transfer_cursor_run(cursor);
    if (size == 0 || cursor->position >= limit)
        return 0;
    size_t ready = limit - cursor->position;
    if (ready >= size)
        return size;
    return ready < SEND_MIN ? 0 : ready;
}

bool tcp_lane_can_send(const struct tcp_lane *lane, size_t limit)
{
    return lane->filled > lane->first || lane_sendable(lane, limit);
}

/* Converts the next floats that may be sent to bfloat16, into the scratch buffer. */
static void lane_fill(struct tcp_lane *lane, size_t limit)
{
    size_t size = lane_sendable(lane, limit);
    size = size < TCP_LANE_SCRATCH ? size : TCP_LANE_SCRATCH;
    size_t count = size / sizeof(uint16_t);
    if (!count)
        return;
    float *from = (float *)(void *)transfer_cursor_at(&lane->cursor);
    reduce_narrow_bf16((uint16_t *)(void *)lane->scratch, from, count);
    if (transfer_cursor_piece(&lane->cursor)->round_in_place)
        reduce_widen_bf16(from, (const uint16_t *)(const void *)lane->scratch, count);
    lane->first = 0;
    lane->filled = count * sizeof(uint16_t);
    transfer_cursor_advance(&lane->cursor, lane->filled);
}

static ssize_t lane_send_narrow(struct tcp_lane *lane, size_t limit)
{
    if (lane->first == lane->filled)
        lane_fill(lane, limit);
    if (lane->first == lane->filled)
        return -EAGAIN;
    ssize_t sent =
        connection_send(lane->connection, lane->scratch + lane->first, lane->filled - lane->first);
    if (sent > 0)
        lane->first += (size_t)sent;
    return sent;
}

static ssize_t lane_send_wide(struct tcp_lane *lane, size_t limit)
{
    size_t size = lane_sendable(lane, limit);
    if (!size)
        return -EAGAIN;
    ssize_t sent = connection_send(lane->connection, transfer_cursor_at(&lane->cursor),
                                   size < BYTES_MAX ? size : BYTES_MAX);
    if (sent > 0)
        transfer_cursor_advance(&lane->cursor, (size_t)sent);
    return sent;
}

int tcp_lane_send(struct tcp_lane *lane, size_t limit)
{
    for (size_t moved = 0; moved < BYTES_MAX;) {
        ssize_t sent =
            lane->cursor.narrow ? lane_send_narrow(lane, limit) : lane_send_wide(lane, limit);
        if (sent == -EAGAIN)
            return moved > 0;
        if (sent < 0)
            return (int)sent;
        moved += (size_t)sent;
    }
    return true;
}

/* Receives into the scratch buffer, then converts or adds whole elements to their place in memory.
 * Keeps the rest of an element in the scratch buffer. */
static ssize_t lane_receive_and_convert(struct tcp_lane *lane, size_t size)
{
    bool narrow = lane->cursor.narrow, add = transfer_cursor_piece(&lane->cursor)->add;
    size_t element = narrow ? sizeof(uint16_t) : sizeof(float);
    size_t room = size < TCP_LANE_SCRATCH ? size : TCP_LANE_SCRATCH;
    ssize_t got =
        connection_recv(lane->connection, lane->scratch + lane->filled, room - lane->filled);
    if (got < 0)
        return got;
    size_t have = lane->filled + (size_t)got, count = have / element;
    float *to = (float *)(void *)transfer_cursor_at(&lane->cursor);
    if (!narrow)
        reduce_add_f32(to, lane->scratch, count);
    else if (add)
        reduce_add_bf16(to, (const uint16_t *)(const void *)lane->scratch, count);
    else
        reduce_widen_bf16(to, (const uint16_t *)(const void *)lane->scratch, count);
    lane->filled = have % element;
    memmove(lane->scratch, lane->scratch + count * element, lane->filled);
    transfer_cursor_advance(&lane->cursor, count * element);
    return got;
}

int tcp_lane_receive(struct tcp_lane *lane)
{
    size_t moved = 0;
    for (size_t size; moved < BYTES_MAX && (size = transfer_cursor_run(&lane->cursor));) {
        ssize_t got;
        if (lane->cursor.narrow || transfer_cursor_piece(&lane->cursor)->add) {
            got = lane_receive_and_convert(lane, size);
        } else {
            got = connection_recv(lane->connection, transfer_cursor_at(&lane->cursor),
                                  size < BYTES_MAX ? size : BYTES_MAX);
            if (got > 0)
                transfer_cursor_advance(&lane->cursor, (size_t)got);
        }
        if (got == -EAGAIN)
            return moved > 0;
        if (got < 0)
            return (int)got;
        moved += (size_t)got;
    }
    return moved > 0;
}

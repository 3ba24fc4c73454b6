/* Streams around the ring over TCP; see transport_tcp.h. Sending, receiving and adding take turns
 * in one thread: what was received and added is passed on at once, so all links are busy while the
 * sum is made. Each stream begins with a head that says which call it belongs to. */
#include "comm/reduce.h"
#include "comm/socket.h"
#include "comm/transport_tcp_private.h"

#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum {
    TURN_MAX = 1024 * 1024, /* bytes sent before receiving gets its turn, and the other way round */
    SEND_MIN = 64 * 1024,   /* less than this is held back while more of its piece is to come */
    STREAM_HEAD_SIZE = 24,
};

/* What a lane is: one data connection's share of the stream. */
struct lane {
    struct ring_cursor cursor;
    size_t held; /* bytes of a float that is not complete yet, at the start of the scratch */
};

struct run {
    struct transport_tcp *tcp;
    const struct ring_plan *plan;
    struct lane send[8], recv[8];
    uint8_t head_out[STREAM_HEAD_SIZE], head_in[STREAM_HEAD_SIZE];
    size_t head_sent, head_got;
    bool moved;
};

static void encode_head(const struct transport_tcp *tcp, uint8_t head[STREAM_HEAD_SIZE])
{
    const uint64_t words[3] = {htole64(tcp->sequence), htole64((uint64_t)tcp->call),
                               htole64(tcp->call_size)};
    memcpy(head, words, sizeof(words));
}

static int check_head(struct run *run, struct err *err)
{
    struct transport_tcp *tcp = run->tcp;
    uint64_t words[3];
    if (memcmp(run->head_in, run->head_out, STREAM_HEAD_SIZE) == 0)
        return 0;
    memcpy(words, run->head_in, sizeof(words));
    return transport_tcp_mismatch(tcp, transport_tcp_left(tcp), le64toh(words[0]),
                                  le64toh(words[1]), le64toh(words[2]), err);
}

/* All bytes before this one have been received, on every lane. */
static size_t received(const struct run *run)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < run->tcp->options.channels; i++)
        if (run->recv[i].cursor.position < least)
            least = run->recv[i].cursor.position;
    return least;
}

/* How many bytes of a lane may leave now. Little is held back until its piece is complete, so that
 * a slow link upstream does not make many small packets downstream. */
static size_t sendable(const struct run *run, const struct lane *lane, size_t limit)
{
    const struct ring_cursor *cursor = &lane->cursor;
    size_t size = ring_cursor_run(cursor);
    if (size == 0 || cursor->position >= limit)
        return 0;
    size_t ready = limit - cursor->position;
    if (ready >= size)
        return size;
    return ready < SEND_MIN ? 0 : ready;
}

static int push_lane(struct run *run, int channel, size_t limit, struct err *err)
{
    struct lane *lane = &run->send[channel];
    size_t turn = 0;
    for (size_t size; turn < TURN_MAX && (size = sendable(run, lane, limit));) {
        if (size > TURN_MAX)
            size = TURN_MAX;
        ssize_t sent =
            socket_send(run->tcp->links.right[channel], ring_cursor_at(&lane->cursor), size);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return transport_tcp_data_failed(run->tcp, transport_tcp_right(run->tcp), (int)-sent,
                                             err);
        ring_cursor_advance(&lane->cursor, (size_t)sent);
        turn += (size_t)sent;
        run->moved = true;
        if ((size_t)sent < size)
            return 0;
    }
    return 0;
}

static int push(struct run *run, struct err *err)
{
    struct transport_tcp *tcp = run->tcp;
    while (run->head_sent < STREAM_HEAD_SIZE) {
        ssize_t sent = socket_send(tcp->links.right[0], run->head_out + run->head_sent,
                                   STREAM_HEAD_SIZE - run->head_sent);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return transport_tcp_data_failed(tcp, transport_tcp_right(tcp), (int)-sent, err);
        run->head_sent += (size_t)sent;
        run->moved = true;
    }
    size_t limit = run->plan->head + received(run);
    for (int i = 0; i < tcp->options.channels; i++) {
        int result = push_lane(run, i, limit, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Receive into the scratch and add whole floats to their place. */
static ssize_t receive_and_add(struct lane *lane, int fd, uint8_t *scratch, size_t size)
{
    size_t room = size < SCRATCH_SIZE ? size : SCRATCH_SIZE;
    ssize_t got = socket_recv(fd, scratch + lane->held, room - lane->held);
    if (got < 0)
        return got;
    size_t have = lane->held + (size_t)got, floats = have / sizeof(float);
    reduce_add_f32((float *)(void *)ring_cursor_at(&lane->cursor), scratch, floats);
    lane->held = have % sizeof(float);
    memmove(scratch, scratch + floats * sizeof(float), lane->held);
    ring_cursor_advance(&lane->cursor, floats * sizeof(float));
    return got;
}

static int pull_lane(struct run *run, int channel, struct err *err)
{
    struct transport_tcp *tcp = run->tcp;
    struct lane *lane = &run->recv[channel];
    int fd = tcp->links.left[channel];
    size_t turn = 0;
    for (size_t size; turn < TURN_MAX && (size = ring_cursor_run(&lane->cursor));) {
        ssize_t got;
        if (ring_cursor_adds(&lane->cursor)) {
            got = receive_and_add(lane, fd, tcp->scratch[channel], size);
        } else {
            got = socket_recv(fd, ring_cursor_at(&lane->cursor), size < TURN_MAX ? size : TURN_MAX);
            if (got > 0)
                ring_cursor_advance(&lane->cursor, (size_t)got);
        }
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return transport_tcp_data_failed(tcp, transport_tcp_left(tcp), (int)-got, err);
        turn += (size_t)got;
        run->moved = true;
    }
    return 0;
}

static int pull(struct run *run, struct err *err)
{
    struct transport_tcp *tcp = run->tcp;
    while (run->head_got < STREAM_HEAD_SIZE) {
        ssize_t got = socket_recv(tcp->links.left[0], run->head_in + run->head_got,
                                  STREAM_HEAD_SIZE - run->head_got);
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return transport_tcp_data_failed(tcp, transport_tcp_left(tcp), (int)-got, err);
        run->head_got += (size_t)got;
        run->moved = true;
        int result = run->head_got == STREAM_HEAD_SIZE ? check_head(run, err) : 0;
        if (result < 0)
            return result;
    }
    for (int i = 0; i < tcp->options.channels; i++) {
        int result = pull_lane(run, i, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static bool is_complete(const struct run *run)
{
    if (run->head_sent < STREAM_HEAD_SIZE || run->head_got < STREAM_HEAD_SIZE)
        return false;
    for (int i = 0; i < run->tcp->options.channels; i++)
        if (ring_cursor_run(&run->send[i].cursor) || ring_cursor_run(&run->recv[i].cursor))
            return false;
    return true;
}

/* Only what can go on when it is ready is waited for: a connection that may send but has nothing to
 * send would wake us for nothing. */
static void mark_polls(struct run *run)
{
    struct transport_tcp *tcp = run->tcp;
    struct pollfd *left = transport_tcp_left_polls(tcp), *right = transport_tcp_right_polls(tcp);
    size_t limit = run->plan->head + received(run);
    for (int i = 0; i < tcp->options.channels; i++) {
        bool head_in = i == 0 && run->head_got < STREAM_HEAD_SIZE;
        bool head_out = i == 0 && run->head_sent < STREAM_HEAD_SIZE;
        bool body_in = run->head_got == STREAM_HEAD_SIZE && ring_cursor_run(&run->recv[i].cursor);
        bool body_out = run->head_sent == STREAM_HEAD_SIZE && sendable(run, &run->send[i], limit);
        left[i].events = head_in || body_in ? POLLIN : 0;
        right[i].events = head_out || body_out ? POLLOUT : 0;
    }
}

/* A peer that sent a small contribution to this call, maybe before this task began it, is not in a
 * ring. */
static int check_contributions(struct transport_tcp *tcp, struct err *err)
{
    for (int rank = 0; rank < tcp->options.size; rank++) {
        const struct pending *found = transport_tcp_find_pending(tcp, &tcp->peers[rank]);
        if (found)
            return transport_tcp_mismatch(tcp, rank, found->sequence, found->call, found->size,
                                          err);
    }
    return 0;
}

int transport_tcp_run_ring(struct transport_tcp *tcp, const struct ring_plan *plan, struct err *err)
{
    struct run run = {.tcp = tcp, .plan = plan};
    encode_head(tcp, run.head_out);
    run.head_sent = plan->send_count ? 0 : STREAM_HEAD_SIZE;
    run.head_got = plan->recv_count ? 0 : STREAM_HEAD_SIZE;
    for (int i = 0; i < tcp->options.channels; i++) {
        ring_cursor_init(&run.send[i].cursor, plan->send, plan->send_count, i,
                         tcp->options.channels);
        ring_cursor_init(&run.recv[i].cursor, plan->recv, plan->recv_count, i,
                         tcp->options.channels);
    }
    int result = check_contributions(tcp, err);
    if (result < 0)
        return result;
    while (!is_complete(&run)) {
        run.moved = false;
        result = push(&run, err);
        if (result < 0 || (result = pull(&run, err)) < 0)
            return result;
        if (run.moved) {
            transport_tcp_moved(tcp);
            continue;
        }
        mark_polls(&run);
        if ((result = transport_tcp_wait(tcp, err)) < 0)
            return result;
    }
    return 0;
}

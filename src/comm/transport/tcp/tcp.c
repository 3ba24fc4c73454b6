/* Streams of pieces over TCP; see transport_tcp.h. Sending, receiving and adding take turns in one
 * thread: what was received and added is passed on at once, so all links are busy while the sum is
 * made. Each stream begins with a head that says which call it belongs to. */
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"
#include "comm/transport/tcp/lane.h"

#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { STREAM_HEAD_SIZE = 24, STREAM_NARROW = 0x100 /* beside the kind of call */ };

struct run {
    struct transport_tcp *tcp;
    const struct ring_plan *plan;
    int lanes;    /* connections each way */
    int to, from; /* ranks */
    struct transport_tcp_lane send[RING_CHANNELS_MAX], recv[RING_CHANNELS_MAX];
    uint8_t head_out[STREAM_HEAD_SIZE], head_in[STREAM_HEAD_SIZE];
    size_t head_sent, head_got;
    bool moved;
};

static void encode_head(const struct transport_tcp *tcp, bool narrow,
                        uint8_t head[STREAM_HEAD_SIZE])
{
    uint64_t call = (uint64_t)tcp->call | (narrow ? STREAM_NARROW : 0);
    const uint64_t words[3] = {htole64(tcp->sequence), htole64(call), htole64(tcp->call_size)};
    memcpy(head, words, sizeof(words));
}

static int check_head(struct run *run, struct err *err)
{
    uint64_t words[3];
    if (memcmp(run->head_in, run->head_out, STREAM_HEAD_SIZE) == 0)
        return 0;
    memcpy(words, run->head_in, sizeof(words));
    bool narrow = le64toh(words[1]) & STREAM_NARROW;
    words[1] &= htole64(~(uint64_t)STREAM_NARROW);
    if (narrow != run->plan->narrow && le64toh(words[1]) == (uint64_t)run->tcp->call) {
        transport_tcp_break(run->tcp, ERR_INVALID,
                            "%s sends sums %s and this task %s: all tasks must send them alike",
                            run->tcp->peers[run->from].name, narrow ? "as bfloat16" : "as floats",
                            narrow ? "as floats" : "as bfloat16");
        return transport_tcp_broken(run->tcp, err);
    }
    return transport_tcp_mismatch(run->tcp, run->from, le64toh(words[0]), le64toh(words[1]),
                                  le64toh(words[2]), err);
}

/* Everything before this may be sent: all bytes it depends on have been received, on every lane. */
static size_t limit_of(const struct run *run)
{
    size_t least = SIZE_MAX / 2;
    for (int i = 0; i < run->lanes; i++)
        if (run->recv[i].cursor.position < least)
            least = run->recv[i].cursor.position;
    return least + (run->plan->head >> run->plan->narrow);
}

static int push(struct run *run, struct err *err)
{
    while (run->head_sent < STREAM_HEAD_SIZE) {
        ssize_t sent = connection_send(run->send[0].link, run->head_out + run->head_sent,
                                       STREAM_HEAD_SIZE - run->head_sent);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return transport_tcp_data_failed(run->tcp, run->to, (int)-sent, err);
        run->head_sent += (size_t)sent;
        run->moved = true;
    }
    size_t limit = limit_of(run);
    for (int i = 0; i < run->lanes; i++) {
        int moved = transport_tcp_lane_send(&run->send[i], limit);
        if (moved < 0)
            return transport_tcp_data_failed(run->tcp, run->to, -moved, err);
        run->moved |= moved > 0;
    }
    return 0;
}

static int pull(struct run *run, struct err *err)
{
    while (run->head_got < STREAM_HEAD_SIZE) {
        ssize_t got = connection_recv(run->recv[0].link, run->head_in + run->head_got,
                                      STREAM_HEAD_SIZE - run->head_got);
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return transport_tcp_data_failed(run->tcp, run->from, (int)-got, err);
        run->head_got += (size_t)got;
        run->moved = true;
        int result = run->head_got == STREAM_HEAD_SIZE ? check_head(run, err) : 0;
        if (result < 0)
            return result;
        if (run->head_got == STREAM_HEAD_SIZE)
            transport_tcp_came(run->tcp, run->from);
    }
    for (int i = 0; i < run->lanes; i++) {
        int moved = transport_tcp_lane_receive(&run->recv[i]);
        if (moved < 0)
            return transport_tcp_data_failed(run->tcp, run->from, -moved, err);
        run->moved |= moved > 0;
    }
    return 0;
}

static bool is_complete(const struct run *run)
{
    if (run->head_sent < STREAM_HEAD_SIZE || run->head_got < STREAM_HEAD_SIZE)
        return false;
    for (int i = 0; i < run->lanes; i++)
        if (!transport_tcp_lane_is_done(&run->send[i]) ||
            !transport_tcp_lane_is_done(&run->recv[i]))
            return false;
    return true;
}

/* Only what can go on when it is ready is waited for: a connection that may send but has nothing to
 * send would wake us for nothing. */
static void mark_polls(struct run *run)
{
    struct transport_tcp *tcp = run->tcp;
    struct pollfd *in = transport_tcp_left_polls(tcp), *out = transport_tcp_right_polls(tcp);
    size_t limit = limit_of(run);
    for (int i = 0; i < tcp->options.channels; i++)
        in[i].fd = out[i].fd = -1;
    for (int i = 0; i < run->lanes; i++) {
        bool head_in = i == 0 && run->head_got < STREAM_HEAD_SIZE;
        bool head_out = i == 0 && run->head_sent < STREAM_HEAD_SIZE;
        bool body_in =
            run->head_got == STREAM_HEAD_SIZE && !transport_tcp_lane_is_done(&run->recv[i]);
        bool body_out =
            run->head_sent == STREAM_HEAD_SIZE && transport_tcp_lane_can_send(&run->send[i], limit);
        in[i] =
            (struct pollfd){.fd = run->recv[i].link->fd, .events = head_in || body_in ? POLLIN : 0};
        out[i] = (struct pollfd){.fd = run->send[i].link->fd,
                                 .events = head_out || body_out ? POLLOUT : 0};
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

/* Around the ring all channels are used; a pair has one connection. */
static void lay_lanes(struct run *run)
{
    struct transport_tcp *tcp = run->tcp;
    const struct ring_plan *plan = run->plan;
    run->lanes = plan->pairs ? 1 : tcp->options.channels;
    run->to = plan->pairs ? plan->to : transport_tcp_right(tcp);
    run->from = plan->pairs ? plan->from : transport_tcp_left(tcp);
    for (int i = 0; i < run->lanes; i++) {
        struct transport_tcp_lane *send = &run->send[i], *recv = &run->recv[i];
        send->link = plan->pairs ? &tcp->links.pairs[run->to] : &tcp->links.right[i];
        recv->link = plan->pairs ? &tcp->links.pairs[run->from] : &tcp->links.left[i];
        ring_cursor_init(&send->cursor, plan->send, plan->send_count, plan->narrow, i, run->lanes);
        ring_cursor_init(&recv->cursor, plan->recv, plan->recv_count, plan->narrow, i, run->lanes);
        if (!tcp->send_scratch[i] && plan->narrow)
            tcp->send_scratch[i] = mem_alloc(TRANSPORT_TCP_SCRATCH);
        send->scratch = tcp->send_scratch[i];
        recv->scratch = tcp->scratch[i];
    }
}

int transport_tcp_run_ring(struct transport_tcp *tcp, const struct ring_plan *plan, struct err *err)
{
    struct run run = {.tcp = tcp, .plan = plan};
    encode_head(tcp, plan->narrow, run.head_out);
    run.head_sent = plan->send_count ? 0 : STREAM_HEAD_SIZE;
    run.head_got = plan->recv_count ? 0 : STREAM_HEAD_SIZE;
    lay_lanes(&run);
    tcp->awaited = run.from;
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

/* Implements the stream transport over TCP; see transport.h. One thread alternates between sending,
 * receiving and adding. It forwards data as soon as the data is received and added, so that all
 * connections are busy while the sum is computed. Each stream begins with a head that identifies
 * the call. */
#include "comm/transport/socket.h"
#include "comm/transport/tcp/lane.h"
#include "comm/transport/transport.h"

#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAM_HEAD_SIZE = 24, /* number, kind and size of the call */
    STREAM_NARROW = 0x100, /* flag in the head, beside the enum control_call */
};

struct tcp {
    struct transport transport;
    struct control *control;
    struct connection_set connections; /* the data connections */
    struct pollfd *polls;              /* one per receiving channel, then one per sending channel */
    uint8_t **recv_scratch;            /* by channel: TCP_LANE_SCRATCH bytes */
    /* By channel: TCP_LANE_SCRATCH bytes, allocated by the first narrow plan; NULL before that. */
    uint8_t **send_scratch;
};

/* One plan while it runs. */
struct tcp_run {
    struct tcp *tcp;
    const struct transfer_plan *plan;
    int lanes;    /* number of connections per direction */
    int to, from; /* the ranks that this member sends to and receives from */
    struct tcp_lane send[TRANSFER_CHANNELS_MAX], recv[TRANSFER_CHANNELS_MAX];
    uint8_t head_out[STREAM_HEAD_SIZE], head_in[STREAM_HEAD_SIZE];
    /* Number of bytes of the head that were sent and received. STREAM_HEAD_SIZE if the plan has no
     * pieces to send or receive. */
    size_t head_sent, head_got;
    bool moved; /* bytes were sent or received in this iteration of the loop */
};

static void tcp_head_encode(const struct control *control, bool narrow,
                            uint8_t head[STREAM_HEAD_SIZE])
{
    struct control_call_note note = control_current_call(control);
    uint64_t call = note.call | (narrow ? STREAM_NARROW : 0);
    const uint64_t words[3] = {htole64(note.sequence), htole64(call), htole64(note.size)};
    memcpy(head, words, sizeof(words));
}

static int tcp_head_check(struct tcp_run *run, struct err *err)
{
    struct control *control = run->tcp->control;
    uint64_t words[3];
    if (memcmp(run->head_in, run->head_out, STREAM_HEAD_SIZE) == 0)
        return 0;
    memcpy(words, run->head_in, sizeof(words));
    uint64_t call = le64toh(words[1]);
    bool narrow = call & STREAM_NARROW;
    const struct control_call_note note = {.sequence = le64toh(words[0]),
                                           .call = call & ~(uint64_t)STREAM_NARROW,
                                           .size = le64toh(words[2])};
    if (narrow != run->plan->narrow && note.call == control_current_call(control).call) {
        control_break(
            control, ERR_INVALID,
            "%s sends sums %s and this task %s: give all tasks the same wire format (--wire)",
            control_peer_name(control, run->from), narrow ? "as bfloat16" : "as floats",
            narrow ? "as floats" : "as bfloat16");
        return control_broken(control, err);
    }
    return control_mismatch(control, run->from, &note, err);
}

/* Returns the position in the stream before which all bytes may be sent: the bytes that they depend
 * on have been received, on every lane. */
static size_t tcp_send_limit(const struct tcp_run *run)
{
    size_t least = SIZE_MAX / 2;
    for (int i = 0; i < run->lanes; i++)
        if (run->recv[i].cursor.position < least)
            least = run->recv[i].cursor.position;
    return least + (run->plan->head >> run->plan->narrow);
}

static int tcp_run_send(struct tcp_run *run, struct err *err)
{
    struct control *control = run->tcp->control;
    while (run->head_sent < STREAM_HEAD_SIZE) {
        ssize_t sent = connection_send(run->send[0].connection, run->head_out + run->head_sent,
                                       STREAM_HEAD_SIZE - run->head_sent);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return control_data_failed(control, run->to, (int)-sent, err);
        run->head_sent += (size_t)sent;
        run->moved = true;
    }
    size_t limit = tcp_send_limit(run);
    for (int i = 0; i < run->lanes; i++) {
        int moved = tcp_lane_send(&run->send[i], limit);
        if (moved < 0)
            return control_data_failed(control, run->to, -moved, err);
        run->moved |= moved > 0;
    }
    return 0;
}

static int tcp_run_receive(struct tcp_run *run, struct err *err)
{
    struct control *control = run->tcp->control;
    while (run->head_got < STREAM_HEAD_SIZE) {
        ssize_t got = connection_recv(run->recv[0].connection, run->head_in + run->head_got,
                                      STREAM_HEAD_SIZE - run->head_got);
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return control_data_failed(control, run->from, (int)-got, err);
        run->head_got += (size_t)got;
        run->moved = true;
        int result = run->head_got == STREAM_HEAD_SIZE ? tcp_head_check(run, err) : 0;
        if (result < 0)
            return result;
        if (run->head_got == STREAM_HEAD_SIZE)
            control_peer_arrived(control, run->from);
    }
    for (int i = 0; i < run->lanes; i++) {
        int moved = tcp_lane_receive(&run->recv[i]);
        if (moved < 0)
            return control_data_failed(control, run->from, -moved, err);
        run->moved |= moved > 0;
    }
    return 0;
}

static bool tcp_run_is_complete(const struct tcp_run *run)
{
    if (run->head_sent < STREAM_HEAD_SIZE || run->head_got < STREAM_HEAD_SIZE)
        return false;
    for (int i = 0; i < run->lanes; i++)
        if (!tcp_lane_is_done(&run->send[i]) || !tcp_lane_is_done(&run->recv[i]))
            return false;
    return true;
}

/* Sets the descriptors to poll. Polls a connection for sending only if there are bytes to send:
 * otherwise poll() would return at once without any work to do. */
static void tcp_run_mark_polls(struct tcp_run *run)
{
    int channels = run->tcp->connections.channels;
    struct pollfd *in = run->tcp->polls, *out = in + channels;
    size_t limit = tcp_send_limit(run);
    for (int i = 0; i < channels; i++)
        in[i].fd = out[i].fd = -1;
    for (int i = 0; i < run->lanes; i++) {
        bool head_in = i == 0 && run->head_got < STREAM_HEAD_SIZE;
        bool head_out = i == 0 && run->head_sent < STREAM_HEAD_SIZE;
        bool body_in = run->head_got == STREAM_HEAD_SIZE && !tcp_lane_is_done(&run->recv[i]);
        bool body_out =
            run->head_sent == STREAM_HEAD_SIZE && tcp_lane_can_send(&run->send[i], limit);
        in[i] = (struct pollfd){.fd = run->recv[i].connection->fd,
                                .events = head_in || body_in ? POLLIN : 0};
        out[i] = (struct pollfd){.fd = run->send[i].connection->fd,
                                 .events = head_out || body_out ? POLLOUT : 0};
    }
}

/* Assigns the connections of the plan. A plan around the ring uses all channels; a plan between
 * pairs uses one connection. */
static void tcp_run_assign_lanes(struct tcp_run *run)
{
    struct tcp *tcp = run->tcp;
    const struct transfer_plan *plan = run->plan;
    struct connection_set *set = &tcp->connections;
    int rank = control_rank(tcp->control);
    run->lanes = plan->pairs ? 1 : set->channels;
    run->to = plan->pairs ? plan->to : (rank + 1) % set->size;
    run->from = plan->pairs ? plan->from : (rank + set->size - 1) % set->size;
    for (int i = 0; i < run->lanes; i++) {
        struct tcp_lane *send = &run->send[i], *recv = &run->recv[i];
        send->connection = plan->pairs ? &set->pairs[run->to] : &set->right[i];
        recv->connection = plan->pairs ? &set->pairs[run->from] : &set->left[i];
        transfer_cursor_init(&send->cursor, plan->send, plan->send_count, plan->narrow, i,
                             run->lanes);
        transfer_cursor_init(&recv->cursor, plan->recv, plan->recv_count, plan->narrow, i,
                             run->lanes);
        if (!tcp->send_scratch[i] && plan->narrow)
            tcp->send_scratch[i] = mem_alloc(TCP_LANE_SCRATCH);
        send->scratch = tcp->send_scratch[i];
        recv->scratch = tcp->recv_scratch[i];
    }
}

static int tcp_run_plan(struct transport *transport, const struct transfer_plan *plan,
                        struct err *err)
{
    struct tcp *tcp = (struct tcp *)transport;
    struct tcp_run run = {.tcp = tcp, .plan = plan};
    tcp_head_encode(tcp->control, plan->narrow, run.head_out);
    run.head_sent = plan->send_count ? 0 : STREAM_HEAD_SIZE;
    run.head_got = plan->recv_count ? 0 : STREAM_HEAD_SIZE;
    tcp_run_assign_lanes(&run);
    control_expect(tcp->control, run.from);
    int result = control_check_contributions(tcp->control, err);
    if (result < 0)
        return result;
    while (!tcp_run_is_complete(&run)) {
        run.moved = false;
        result = tcp_run_send(&run, err);
        if (result < 0 || (result = tcp_run_receive(&run, err)) < 0)
            return result;
        if (run.moved) {
            control_progress(tcp->control);
            continue;
        }
        tcp_run_mark_polls(&run);
        result = control_wait(tcp->control, 2 * (size_t)tcp->connections.channels, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int tcp_open(const struct transport_config *config, struct transport **ret, struct err *err)
{
    struct tcp *tcp = mem_zalloc(sizeof(*tcp));
    struct connection_set *set = &tcp->connections;
    tcp->control = config->control;
    *set = *config->connections;
    *config->connections = (struct connection_set){0};
    tcp->transport = (struct transport){.ops = &transport_tcp, .has_pairs = set->pairs != NULL};
    for (int i = 0; set->pairs && i < set->size; i++)
        if (set->pairs[i].fd >= 0)
            socket_do_not_pace_local(set->pairs[i].fd);
    size_t channels = (size_t)set->channels;
    tcp->recv_scratch = mem_calloc(channels, sizeof(*tcp->recv_scratch));
    tcp->send_scratch = mem_calloc(channels, sizeof(*tcp->send_scratch));
    for (size_t i = 0; set->size > 1 && i < channels; i++) {
        socket_do_not_pace_local(set->left[i].fd);
        socket_do_not_pace_local(set->right[i].fd);
        tcp->recv_scratch[i] = mem_alloc(TCP_LANE_SCRATCH);
    }
    tcp->polls = control_reserve_polls(tcp->control, 2 * channels);
    *ret = &tcp->transport;
    return 0;
}

static void tcp_close(struct transport *transport)
{
    struct tcp *tcp = (struct tcp *)transport;
    for (int i = 0; i < tcp->connections.channels; i++) {
        free(tcp->recv_scratch[i]);
        free(tcp->send_scratch[i]);
    }
    free(tcp->recv_scratch);
    free(tcp->send_scratch);
    connection_set_release(&tcp->connections);
    free(tcp);
}

const struct transport_ops transport_tcp = {
    .name = "tcp",
    .kind = TRANSPORT_STREAM,
    .open = tcp_open,
    .close = tcp_close,
    .run = tcp_run_plan,
};

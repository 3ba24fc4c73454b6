/* Frames between any two members, and the watch over all of them; see transport_tcp.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "comm/socket.h"
#include "comm/transport_tcp_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PING_MS = 1000,       /* asking who is missing begins after this and is repeated */
    EXPLANATION_MS = 500, /* how long a broken data connection waits for a reason */
};

static const char *const CALL_NAMES[TRANSPORT_CALLS] = {
    "nothing", "all-reduce", "broadcast", "all-gather", "barrier",
};

static int64_t now_ms(void)
{
    return moment_monotonic_ns() / 1000000;
}

int transport_tcp_rank(const struct transport_tcp *tcp)
{
    return tcp->options.rank;
}

int transport_tcp_size(const struct transport_tcp *tcp)
{
    return tcp->options.size;
}

int transport_tcp_left(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + tcp->options.size - 1) % tcp->options.size;
}

int transport_tcp_right(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + 1) % tcp->options.size;
}

struct pollfd *transport_tcp_left_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size;
}

struct pollfd *transport_tcp_right_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size + tcp->options.channels;
}

struct transport_tcp *transport_tcp_new(const struct transport_tcp_options *options,
                                        struct rendezvous_links *links)
{
    struct transport_tcp *tcp = mem_zalloc(sizeof(*tcp));
    size_t size = (size_t)options->size, channels = (size_t)options->channels;
    tcp->options = *options;
    tcp->options.tasks = NULL;
    tcp->links = *links;
    *links = (struct rendezvous_links){0};
    tcp->peers = mem_calloc(size, sizeof(*tcp->peers));
    for (size_t i = 0; i < size; i++) {
        struct peer *peer = &tcp->peers[i];
        tf_config_task_describe(&options->tasks[i], peer->name);
        peer->control = TAKE_FD(tcp->links.control[i]);
        buf_init(&peer->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
    }
    tcp->polls = mem_calloc(size + 2 * channels, sizeof(*tcp->polls));
    tcp->scratch = mem_calloc(channels, sizeof(*tcp->scratch));
    for (size_t i = 0; i < channels; i++) {
        transport_tcp_left_polls(tcp)[i].fd = tcp->links.left[i];
        transport_tcp_right_polls(tcp)[i].fd = tcp->links.right[i];
        tcp->scratch[i] = size > 1 ? mem_alloc(SCRATCH_SIZE) : NULL;
    }
    return tcp;
}

/* What cannot be sent now stays queued; a broken connection shows itself when it is read. */
static void flush(struct peer *peer)
{
    while (peer->out.size && peer->control >= 0) {
        ssize_t sent = socket_send(peer->control, peer->out.data, peer->out.size);
        if (sent < 0)
            return;
        buf_consume(&peer->out, (size_t)sent);
    }
}

static void send_frame(struct transport_tcp *tcp, struct peer *peer, enum wire_frame_type type,
                       uint64_t sequence, uint64_t detail, const void *data, size_t size)
{
    if (peer->control < 0)
        return;
    uint8_t head[WIRE_FRAME_HEAD_SIZE];
    wire_frame_encode(
        &(struct wire_frame){
            .type = type, .size = (uint32_t)size, .sequence = sequence, .detail = detail},
        head);
    if (peer->out.max - peer->out.size < sizeof(head) + size)
        return; /* it has not read for long; the watch over idle calls deals with it */
    buf_append(&peer->out, head, sizeof(head));
    buf_append(&peer->out, data, size);
    flush(peer);
}

static void send_to_all(struct transport_tcp *tcp, enum wire_frame_type type, uint64_t sequence,
                        uint64_t detail, const void *data, size_t size)
{
    for (int i = 0; i < tcp->options.size; i++)
        send_frame(tcp, &tcp->peers[i], type, sequence, detail, data, size);
}

struct transport_tcp *transport_tcp_free(struct transport_tcp *tcp)
{
    if (!tcp)
        return NULL;
    if (!tcp->broken.code)
        send_to_all(tcp, WIRE_FRAME_BYE, tcp->sequence, 0, NULL, 0);
    for (int i = 0; i < tcp->options.size; i++) {
        struct peer *peer = &tcp->peers[i];
        if (peer->control >= 0)
            close(peer->control);
        buf_release(&peer->out);
        for (int slot = 0; slot < PENDING_SLOTS; slot++)
            free(peer->pending[slot].bytes);
    }
    for (int i = 0; i < tcp->options.channels; i++)
        free(tcp->scratch[i]);
    free(tcp->scratch);
    free(tcp->peers);
    free(tcp->polls);
    rendezvous_links_release(&tcp->links, tcp->options.size, tcp->options.channels);
    free(tcp);
    return NULL;
}

/* Break the group: keep the error for later calls and tell the others, who may not see it. */
__attribute__((format(printf, 4, 5))) static int fail(struct transport_tcp *tcp, struct err *err,
                                                      enum err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(&tcp->broken, code, format, args);
    va_end(args);
    send_to_all(tcp, WIRE_FRAME_ABORT, tcp->sequence, (uint64_t)code, tcp->broken.message,
                strlen(tcp->broken.message));
    return err_set(err, code, "%s", tcp->broken.message);
}

static int lost(struct transport_tcp *tcp, const struct peer *peer, const char *reason,
                struct err *err)
{
    return fail(tcp, err, ERR_UNAVAILABLE, "lost %s: %s", peer->name, reason);
}

int transport_tcp_mismatch(struct transport_tcp *tcp, int rank, uint64_t sequence, uint64_t call,
                           uint64_t size, struct err *err)
{
    return fail(tcp, err, ERR_INTERNAL,
                "%s makes call %llu, %s of %llu bytes, where this task makes call %llu, %s of %zu "
                "bytes: all tasks must make the same calls in the same order",
                tcp->peers[rank].name, (unsigned long long)sequence,
                CALL_NAMES[call < TRANSPORT_CALLS ? call : 0], (unsigned long long)size,
                (unsigned long long)tcp->sequence, CALL_NAMES[tcp->call], tcp->call_size);
}

static int on_data(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                   const uint8_t *bytes, struct err *err)
{
    bool current = frame->sequence == tcp->sequence;
    struct pending *place = NULL;
    for (int i = 0; i < PENDING_SLOTS && !place; i++)
        if (!peer->pending[i].used)
            place = &peer->pending[i];
    if (frame->sequence < tcp->sequence || !place || (current && !tcp->exchanging) ||
        (current && (frame->detail != (uint64_t)tcp->call || frame->size != tcp->call_size)))
        return transport_tcp_mismatch(tcp, (int)(peer - tcp->peers), frame->sequence, frame->detail,
                                      frame->size, err);
    if (!place->bytes)
        place->bytes = mem_alloc(WIRE_FRAME_MAX);
    place->used = true;
    place->sequence = frame->sequence;
    place->call = frame->detail;
    place->size = frame->size;
    memcpy(place->bytes, bytes, frame->size);
    return 0;
}

/* The group is broken, as another member found out. It is told on, so that whoever sees this
 * process go before it hears from the first still learns the cause. */
static int on_abort(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                    const uint8_t *bytes, struct err *err)
{
    enum err_code code = frame->detail < ERR_CODES ? (enum err_code)frame->detail : ERR_INTERNAL;
    send_to_all(tcp, WIRE_FRAME_ABORT, tcp->sequence, frame->detail, bytes, frame->size);
    err_set(&tcp->broken, code, "%.*s (told by %s)", (int)frame->size, (const char *)bytes,
            peer->name);
    return err_set(err, code, "%s", tcp->broken.message);
}

static int on_frame(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                    const uint8_t *bytes, struct err *err)
{
    if (frame->sequence > peer->seen && frame->type != WIRE_FRAME_BYE)
        peer->seen = frame->sequence;
    switch (frame->type) {
    case WIRE_FRAME_DATA:
        return on_data(tcp, peer, frame, bytes, err);
    case WIRE_FRAME_PING:
        send_frame(tcp, peer, WIRE_FRAME_PONG, tcp->sequence, 0, NULL, 0);
        return 0;
    case WIRE_FRAME_ABORT:
        return on_abort(tcp, peer, frame, bytes, err);
    case WIRE_FRAME_BYE:
        peer->left = true;
        peer->completed = frame->sequence;
        return 0;
    default:
        return 0;
    }
}

static int parse_frames(struct transport_tcp *tcp, struct peer *peer, struct err *err)
{
    size_t used = 0;
    int result = 0;
    while (result == 0 && peer->in_size - used >= WIRE_FRAME_HEAD_SIZE) {
        struct wire_frame frame;
        struct err failure = ERR_INIT;
        if (wire_frame_decode(peer->in + used, &frame, &failure) < 0)
            return fail(tcp, err, ERR_INTERNAL, "%s %s", peer->name, failure.message);
        if (peer->in_size - used < WIRE_FRAME_HEAD_SIZE + frame.size)
            break;
        result = on_frame(tcp, peer, &frame, peer->in + used + WIRE_FRAME_HEAD_SIZE, err);
        used += WIRE_FRAME_HEAD_SIZE + frame.size;
    }
    peer->in_size -= used;
    memmove(peer->in, peer->in + used, peer->in_size);
    return result;
}

/* A peer that left in peace after this call's end is not needed any more; any other end is a loss.
 */
static int on_closed(struct transport_tcp *tcp, struct peer *peer, int errnum, struct err *err)
{
    if (!peer->left)
        return lost(tcp, peer, socket_reason(errnum), err);
    close(TAKE_FD(peer->control));
    if (peer->completed < tcp->sequence)
        return fail(tcp, err, ERR_UNAVAILABLE, "%s has left the group after call %llu of %llu",
                    peer->name, (unsigned long long)peer->completed,
                    (unsigned long long)tcp->sequence);
    return 0;
}

static int read_control(struct transport_tcp *tcp, struct peer *peer, struct err *err)
{
    while (peer->control >= 0) {
        ssize_t got =
            socket_recv(peer->control, peer->in + peer->in_size, sizeof(peer->in) - peer->in_size);
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return on_closed(tcp, peer, (int)-got, err);
        peer->in_size += (size_t)got;
        int result = parse_frames(tcp, peer, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* One poll; control connections that moved are dealt with. */
static int poll_once(struct transport_tcp *tcp, size_t count, int timeout_ms, struct err *err)
{
    for (int i = 0; i < tcp->options.size; i++) {
        struct peer *peer = &tcp->peers[i];
        tcp->polls[i] = (struct pollfd){.fd = peer->control,
                                        .events = peer->out.size ? POLLIN | POLLOUT : POLLIN};
    }
    if (poll(tcp->polls, (nfds_t)count, timeout_ms) < 0 && errno != EINTR)
        return fail(tcp, err, ERR_IO, "cannot wait for the other tasks: %s", strerror(errno));
    for (int i = 0; i < tcp->options.size; i++) {
        if (!tcp->polls[i].revents || tcp->peers[i].control < 0)
            continue;
        flush(&tcp->peers[i]);
        int result = read_control(tcp, &tcp->peers[i], err);
        if (result < 0)
            return result;
    }
    return 0;
}

int transport_tcp_data_failed(struct transport_tcp *tcp, int rank, int errnum, struct err *err)
{
    /* The neighbour may have given up because of another member, and told so on its control
     * connection before it closed this one; then that one is to blame. */
    int64_t until = now_ms() + EXPLANATION_MS;
    for (int64_t now = now_ms(); now < until; now = now_ms()) {
        int result = poll_once(tcp, (size_t)tcp->options.size, (int)(until - now), err);
        if (result < 0)
            return result;
    }
    return lost(tcp, &tcp->peers[rank], socket_reason(errnum), err);
}

/* Those that are not known to have reached this call; where all have, the one data should come
 * from. At most a few are named. */
static void name_missing(const struct transport_tcp *tcp, struct buf *text)
{
    enum { NAMED_MAX = 4 };
    int missing = 0;
    for (int i = 0; i < tcp->options.size; i++) {
        const struct peer *peer = &tcp->peers[i];
        if (i == tcp->options.rank || peer->seen >= tcp->sequence ||
            (peer->left && peer->completed >= tcp->sequence))
            continue;
        if (missing++ < NAMED_MAX)
            buf_printf(text, "%s%s", missing > 1 ? ", " : "", peer->name);
    }
    if (missing > NAMED_MAX)
        buf_printf(text, " and %d more", missing - NAMED_MAX);
    if (!missing)
        buf_printf(text, "data from %s", tcp->peers[transport_tcp_left(tcp)].name);
}

static void report(struct transport_tcp *tcp, int64_t idle_ms)
{
    if (!tcp->options.report)
        return;
    _cleanup_buf_ struct buf missing, line;
    buf_init(&missing, 2048);
    buf_init(&line, 4096);
    name_missing(tcp, &missing);
    buf_printf(&line, "%s (call %llu) waits since %lld s for %s", CALL_NAMES[tcp->call],
               (unsigned long long)tcp->sequence, (long long)(idle_ms / 1000), missing.data);
    tcp->options.report(tcp->options.context, line.data);
}

static int give_up(struct transport_tcp *tcp, struct err *err)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, 2048);
    name_missing(tcp, &missing);
    return fail(tcp, err, ERR_TIMEOUT, "%s (call %llu) waited %g s in vain for %s",
                CALL_NAMES[tcp->call], (unsigned long long)tcp->sequence,
                (double)tcp->options.timeout_ms / 1000, missing.data);
}

int transport_tcp_wait(struct transport_tcp *tcp, struct err *err)
{
    int64_t now = now_ms();
    if (!tcp->idle_since_ms)
        tcp->idle_since_ms = tcp->pinged_ms = tcp->reported_ms = now;
    int64_t next = tcp->pinged_ms + PING_MS,
            deadline = tcp->idle_since_ms + tcp->options.timeout_ms;
    if (tcp->reported_ms + tcp->options.report_ms < next)
        next = tcp->reported_ms + tcp->options.report_ms;
    if (deadline < next)
        next = deadline;
    size_t count = (size_t)tcp->options.size + 2 * (size_t)tcp->options.channels;
    int result = poll_once(tcp, count, next > now ? (int)(next - now) : 0, err);
    if (result < 0)
        return result;
    now = now_ms();
    if (now >= deadline)
        return give_up(tcp, err);
    if (now >= tcp->pinged_ms + PING_MS) {
        send_to_all(tcp, WIRE_FRAME_PING, tcp->sequence, 0, NULL, 0);
        tcp->pinged_ms = now;
    }
    if (now >= tcp->reported_ms + tcp->options.report_ms) {
        report(tcp, now - tcp->idle_since_ms);
        tcp->reported_ms = now;
    }
    return 0;
}

int transport_tcp_begin(struct transport_tcp *tcp, enum transport_call call, size_t size,
                        struct err *err)
{
    if (tcp->broken.code)
        return err_set(err, tcp->broken.code, "%s", tcp->broken.message);
    tcp->sequence++;
    tcp->call = call;
    tcp->call_size = size;
    tcp->exchanging = false;
    tcp->idle_since_ms = 0;
    for (int i = 0; i < tcp->options.size; i++)
        if (tcp->peers[i].left && tcp->peers[i].completed < tcp->sequence)
            return fail(tcp, err, ERR_UNAVAILABLE, "%s has left the group", tcp->peers[i].name);
    return 0;
}

/* The contribution of a peer to the current call, or NULL if it has not come. */
static struct pending *find_pending(struct transport_tcp *tcp, struct peer *peer)
{
    for (int i = 0; i < PENDING_SLOTS; i++)
        if (peer->pending[i].used && peer->pending[i].sequence == tcp->sequence)
            return &peer->pending[i];
    return NULL;
}

int transport_tcp_exchange(struct transport_tcp *tcp, const void *data, size_t size, void *ret_all,
                           struct err *err)
{
    if (size > WIRE_FRAME_MAX)
        mem_panic("transport: %zu bytes do not fit a frame", size);
    tcp->exchanging = true;
    send_to_all(tcp, WIRE_FRAME_DATA, tcp->sequence, (uint64_t)tcp->call, data, size);
    struct pollfd *data_polls = transport_tcp_left_polls(tcp);
    for (int i = 0; i < 2 * tcp->options.channels; i++)
        data_polls[i].events = 0;
    for (int rank = 0; rank < tcp->options.size; rank++) {
        char *place = (char *)ret_all + (size_t)rank * size;
        struct peer *peer = &tcp->peers[rank];
        if (rank == tcp->options.rank) {
            if (size)
                memcpy(place, data, size);
            continue;
        }
        struct pending *found;
        while (!(found = find_pending(tcp, peer))) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
        if (found->call != (uint64_t)tcp->call || found->size != size)
            return transport_tcp_mismatch(tcp, rank, found->sequence, found->call, found->size,
                                          err);
        memcpy(place, found->bytes, size);
        found->used = false;
        transport_tcp_moved(tcp);
    }
    /* Every other member must have our contribution before this call counts as completed. */
    for (int rank = 0; rank < tcp->options.size; rank++)
        while (tcp->peers[rank].out.size && tcp->peers[rank].control >= 0) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
    return 0;
}

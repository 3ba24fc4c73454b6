/* Frames between any two members: sending them, taking in what comes, and what it means; see
 * transport_tcp_private.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

const char *transport_tcp_call_name(uint64_t call)
{
    static const char *const NAMES[TRANSPORT_CALLS] = {
        "nothing", "joining", "all-reduce", "broadcast", "all-gather", "barrier", "sharing",
    };
    return NAMES[call < TRANSPORT_CALLS ? call : 0];
}

/* What cannot be sent now stays queued; a broken connection shows itself when it is read. */
static void flush(struct peer *peer)
{
    while (peer->out.size && peer->control.fd >= 0) {
        ssize_t sent = connection_send(&peer->control, peer->out.data, peer->out.size);
        if (sent < 0)
            return;
        buf_consume(&peer->out, (size_t)sent);
    }
}

static void send_frame(struct peer *peer, enum wire_frame_type type, uint64_t sequence,
                       uint64_t detail, const void *data, size_t size)
{
    if (peer->control.fd < 0)
        return;
    uint8_t head[WIRE_FRAME_HEAD_SIZE];
    const struct wire_frame frame = {
        .type = type, .size = (uint32_t)size, .sequence = sequence, .detail = detail};
    wire_frame_encode(&frame, head);
    if (peer->out.max - peer->out.size < sizeof(head) + size)
        return; /* it has not read for long; the watch over idle calls deals with it */
    buf_append(&peer->out, head, sizeof(head));
    buf_append(&peer->out, data, size);
    flush(peer);
}

void transport_tcp_send_all(struct transport_tcp *tcp, enum wire_frame_type type, uint64_t sequence,
                            uint64_t detail, const void *data, size_t size)
{
    for (int i = 0; i < tcp->options.size; i++)
        send_frame(&tcp->peers[i], type, sequence, detail, data, size);
}

void transport_tcp_break(struct transport_tcp *tcp, enum err_code code, const char *format, ...)
{
    if (tcp->broken.code)
        return;
    va_list args;
    va_start(args, format);
    err_vset(&tcp->broken, code, format, args);
    va_end(args);
    uint64_t detail = (uint64_t)code | (uint64_t)tcp->accused << WIRE_ABORT_RANK_SHIFT;
    transport_tcp_send_all(tcp, WIRE_FRAME_ABORT, tcp->sequence, detail, tcp->broken.message,
                           strlen(tcp->broken.message));
}

int transport_tcp_broken(const struct transport_tcp *tcp, struct err *err)
{
    return err_set(err, tcp->broken.code, "%s", tcp->broken.message);
}

enum err_code transport_tcp_broken_by(const struct transport_tcp *tcp)
{
    return tcp->broken.code;
}

int transport_tcp_mismatch(struct transport_tcp *tcp, int rank, uint64_t sequence, uint64_t call,
                           uint64_t size, struct err *err)
{
    transport_tcp_break(
        tcp, ERR_INTERNAL,
        "%s makes call %llu, %s of %llu bytes, where this task makes call %llu, %s of %zu bytes: "
        "all tasks must make the same calls in the same order",
        tcp->peers[rank].name, (unsigned long long)sequence, transport_tcp_call_name(call),
        (unsigned long long)size, (unsigned long long)tcp->sequence,
        transport_tcp_call_name(tcp->call), tcp->call_size);
    return transport_tcp_broken(tcp, err);
}

struct pending *transport_tcp_find_pending(const struct transport_tcp *tcp, struct peer *peer)
{
    for (int i = 0; i < PENDING_SLOTS; i++)
        if (peer->pending[i].used && peer->pending[i].sequence == tcp->sequence)
            return &peer->pending[i];
    return NULL;
}

static void on_data(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                    const uint8_t *bytes)
{
    bool current = frame->sequence == tcp->sequence;
    struct pending *place = NULL;
    for (int i = 0; i < PENDING_SLOTS && !place; i++)
        if (!peer->pending[i].used)
            place = &peer->pending[i];
    if (frame->sequence < tcp->sequence || !place || (current && !tcp->exchanging) ||
        (current && (frame->detail != (uint64_t)tcp->call || frame->size != tcp->call_size))) {
        transport_tcp_mismatch(tcp, (int)(peer - tcp->peers), frame->sequence, frame->detail,
                               frame->size, NULL);
        return;
    }
    if (!place->bytes)
        place->bytes = mem_alloc(WIRE_FRAME_MAX);
    place->used = true;
    place->sequence = frame->sequence;
    place->call = frame->detail;
    place->size = frame->size;
    memcpy(place->bytes, bytes, frame->size);
}

/* The group is broken, as another member found out. It is told on, so that whoever sees this
 * process go before it hears from the first still learns the cause. */
static void on_abort(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                     const uint8_t *bytes)
{
    peer->aborted = true;
    if (tcp->broken.code)
        return;
    uint64_t code = frame->detail & WIRE_ABORT_CODE;
    uint64_t silent = frame->detail >> WIRE_ABORT_RANK_SHIFT; /* from 1 */
    bool known = code > ERR_NONE && code < ERR_CODES;
    transport_tcp_send_all(tcp, WIRE_FRAME_ABORT, tcp->sequence, frame->detail, bytes, frame->size);
    if (silent == (uint64_t)tcp->options.rank + 1) {
        tcp->expelled = true;
        err_set(&tcp->broken, ERR_UNAVAILABLE,
                "the others went on without this task, which did not answer (told by %s)",
                peer->name);
        return;
    }
    if (silent && silent <= (uint64_t)tcp->options.size)
        tcp->peers[silent - 1].silent = true;
    err_set(&tcp->broken, known ? (enum err_code)code : ERR_INTERNAL, "%.*s (told by %s)",
            (int)frame->size, (const char *)bytes, peer->name);
}

static void on_frame(struct transport_tcp *tcp, struct peer *peer, const struct wire_frame *frame,
                     const uint8_t *bytes)
{
    if (frame->sequence > peer->seen && frame->type != WIRE_FRAME_BYE) {
        if (peer->seen < tcp->sequence) /* else it is ahead of this task, which counts no less */
            peer->came_ms = peer->heard_ms;
        peer->seen = frame->sequence;
    }
    switch (frame->type) {
    case WIRE_FRAME_DATA:
        on_data(tcp, peer, frame, bytes);
        break;
    case WIRE_FRAME_PING:
        send_frame(peer, WIRE_FRAME_PONG, tcp->sequence, 0, NULL, 0);
        break;
    case WIRE_FRAME_ABORT:
        on_abort(tcp, peer, frame, bytes);
        break;
    case WIRE_FRAME_BYE:
        peer->left = true;
        peer->completed = frame->sequence;
        break;
    default: /* a pong has said it all with its sequence */
        break;
    }
}

/* A peer that left in peace after this call's end is not needed any more; any other end is a
 * loss. */
static void on_closed(struct transport_tcp *tcp, struct peer *peer, const char *reason)
{
    connection_close(&peer->control);
    if (!peer->left)
        transport_tcp_break(tcp, ERR_UNAVAILABLE, "lost %s: %s", peer->name, reason);
    else if (peer->completed < tcp->sequence)
        transport_tcp_break(tcp, ERR_UNAVAILABLE, "%s has left the group after call %llu",
                            peer->name, (unsigned long long)peer->completed);
}

static void parse_frames(struct transport_tcp *tcp, struct peer *peer)
{
    size_t used = 0;
    while (peer->in_size - used >= WIRE_FRAME_HEAD_SIZE) {
        struct wire_frame frame;
        struct err failure = ERR_INIT;
        if (wire_frame_decode(peer->in + used, &frame, &failure) < 0) {
            on_closed(tcp, peer, failure.message);
            return;
        }
        if (peer->in_size - used < WIRE_FRAME_HEAD_SIZE + frame.size)
            break;
        on_frame(tcp, peer, &frame, peer->in + used + WIRE_FRAME_HEAD_SIZE);
        used += WIRE_FRAME_HEAD_SIZE + frame.size;
    }
    peer->in_size -= used;
    memmove(peer->in, peer->in + used, peer->in_size);
}

void transport_tcp_read(struct transport_tcp *tcp, struct peer *peer)
{
    flush(peer);
    while (peer->control.fd >= 0) {
        ssize_t got = connection_recv(&peer->control, peer->in + peer->in_size,
                                      sizeof(peer->in) - peer->in_size);
        if (got == -EAGAIN)
            return;
        if (got < 0) {
            peer->silent = got == -ETIMEDOUT || got == -EHOSTUNREACH || got == -ENETUNREACH;
            on_closed(tcp, peer, socket_reason((int)-got));
            return;
        }
        peer->heard_ms = moment_monotonic_ms();
        peer->in_size += (size_t)got;
        parse_frames(tcp, peer);
    }
}

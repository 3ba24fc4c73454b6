/* Sends, receives and handles the frames on control connections; see control_private.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

const char *control_call_name(uint64_t call)
{
    static const char *const NAMES[CONTROL_CALLS] = {
        "unknown call", "joining", "all-reduce",     "broadcast",
        "all-gather",   "barrier", "memory sharing",
    };
    return NAMES[call < CONTROL_CALLS ? call : 0];
}

/* Sends the queued bytes as far as the connection allows. A broken connection is detected by the
 * next read. */
static void control_peer_flush(struct control_peer *peer)
{
    while (peer->out.size && peer->connection.fd >= 0) {
        ssize_t sent = connection_send(&peer->connection, peer->out.data, peer->out.size);
        if (sent < 0)
            return;
        buf_consume(&peer->out, (size_t)sent);
    }
}

static void control_peer_send(struct control_peer *peer, enum wire_frame_type type,
                              uint64_t sequence, uint64_t detail, const void *data, size_t size)
{
    if (peer->connection.fd < 0)
        return;
    uint8_t head[WIRE_FRAME_HEAD_SIZE];
    const struct wire_frame frame = {
        .type = type, .size = (uint32_t)size, .sequence = sequence, .detail = detail};
    wire_frame_encode(&frame, head);
    if (peer->out.max - peer->out.size < sizeof(head) + size)
        return; /* the peer has not read for a long time: the timeout of the wait expires soon */
    buf_append(&peer->out, head, sizeof(head));
    buf_append(&peer->out, data, size);
    control_peer_flush(peer);
}

void control_send_all(struct control *control, enum wire_frame_type type, uint64_t sequence,
                      uint64_t detail, const void *data, size_t size)
{
    for (int i = 0; i < control->options.size; i++)
        control_peer_send(&control->peers[i], type, sequence, detail, data, size);
}

void control_break(struct control *control, enum err_code code, const char *format, ...)
{
    if (control->broken.code)
        return;
    va_list args;
    va_start(args, format);
    err_vset(&control->broken, code, format, args);
    va_end(args);
    uint64_t detail = (uint64_t)code | (uint64_t)control->silent_member << WIRE_ABORT_RANK_SHIFT;
    control_send_all(control, WIRE_FRAME_ABORT, control->sequence, detail, control->broken.message,
                     strlen(control->broken.message));
}

int control_broken(const struct control *control, struct err *err)
{
    return err_set(err, control->broken.code, "%s", control->broken.message);
}

enum err_code control_broken_code(const struct control *control)
{
    return control->broken.code;
}

int control_mismatch(struct control *control, int rank, const struct control_call_note *note,
                     struct err *err)
{
    control_break(
        control, ERR_INTERNAL,
        "%s makes call %llu, %s of %llu bytes, where this task makes call %llu, %s of %zu bytes: "
        "all tasks must make the same calls in the same order",
        control->peers[rank].name, (unsigned long long)note->sequence,
        control_call_name(note->call), (unsigned long long)note->size,
        (unsigned long long)control->sequence, control_call_name(control->call),
        control->call_size);
    return control_broken(control, err);
}

struct control_contribution *control_find_contribution(const struct control *control,
                                                       struct control_peer *peer)
{
    for (int i = 0; i < CONTROL_CONTRIBUTIONS; i++)
        if (peer->contributions[i].used &&
            peer->contributions[i].note.sequence == control->sequence)
            return &peer->contributions[i];
    return NULL;
}

static void control_on_data(struct control *control, struct control_peer *peer,
                            const struct wire_frame *frame, const uint8_t *bytes)
{
    const struct control_call_note note = {
        .sequence = frame->sequence, .call = frame->detail, .size = frame->size};
    bool current = frame->sequence == control->sequence;
    struct control_contribution *place = NULL;
    for (int i = 0; i < CONTROL_CONTRIBUTIONS && !place; i++)
        if (!peer->contributions[i].used)
            place = &peer->contributions[i];
    if (frame->sequence < control->sequence || !place || (current && !control->exchanging) ||
        (current &&
         (frame->detail != (uint64_t)control->call || frame->size != control->call_size))) {
        control_mismatch(control, (int)(peer - control->peers), &note, NULL);
        return;
    }
    if (!place->bytes)
        place->bytes = mem_alloc(WIRE_FRAME_MAX);
    place->used = true;
    place->note = note;
    memcpy(place->bytes, bytes, frame->size);
}

/* Called when a member reports that the group is broken. Forwards the reason to all members,
 * because another member may only see that this member closes its connection. */
static void control_on_abort(struct control *control, struct control_peer *peer,
                             const struct wire_frame *frame, const uint8_t *bytes)
{
    peer->aborted = true;
    if (control->broken.code)
        return;
    uint64_t code = frame->detail & WIRE_ABORT_CODE;
    /* rank + 1, or 0: no member was silent */
    uint64_t silent = frame->detail >> WIRE_ABORT_RANK_SHIFT;
    bool known = code > ERR_NONE && code < ERR_CODES;
    control_send_all(control, WIRE_FRAME_ABORT, control->sequence, frame->detail, bytes,
                     frame->size);
    if (silent == (uint64_t)control->options.rank + 1) {
        control->expelled = true;
        err_set(&control->broken, ERR_UNAVAILABLE,
                "the other tasks continued without this task, because it did not answer (reported "
                "by %s)",
                peer->name);
        return;
    }
    if (silent && silent <= (uint64_t)control->options.size)
        control->peers[silent - 1].silent = true;
    err_set(&control->broken, known ? (enum err_code)code : ERR_INTERNAL, "%.*s (reported by %s)",
            (int)frame->size, (const char *)bytes, peer->name);
}

static void control_on_frame(struct control *control, struct control_peer *peer,
                             const struct wire_frame *frame, const uint8_t *bytes)
{
    if (frame->sequence > peer->seen && frame->type != WIRE_FRAME_BYE) {
        /* If the peer had already reached this call, its arrival time stays. */
        if (peer->seen < control->sequence)
            peer->came_ms = peer->heard_ms;
        peer->seen = frame->sequence;
    }
    switch (frame->type) {
    case WIRE_FRAME_DATA:
        control_on_data(control, peer, frame, bytes);
        break;
    case WIRE_FRAME_PING:
        control_peer_send(peer, WIRE_FRAME_PONG, control->sequence, 0, NULL, 0);
        break;
    case WIRE_FRAME_ABORT:
        control_on_abort(control, peer, frame, bytes);
        break;
    case WIRE_FRAME_BYE:
        peer->left = true;
        peer->completed = frame->sequence;
        break;
    default: /* a pong carries only its sequence */
        break;
    }
}

/* Breaks the group, unless the peer left on purpose after it had finished the current call. */
static void control_on_closed(struct control *control, struct control_peer *peer,
                              const char *reason)
{
    connection_close(&peer->connection);
    if (!peer->left)
        control_break(control, ERR_UNAVAILABLE, "lost %s: %s", peer->name, reason);
    else if (peer->completed < control->sequence)
        control_break(control, ERR_UNAVAILABLE, "%s has left the group after call %llu", peer->name,
                      (unsigned long long)peer->completed);
}

static void control_parse_frames(struct control *control, struct control_peer *peer)
{
    size_t used = 0;
    while (peer->in_size - used >= WIRE_FRAME_HEAD_SIZE) {
        struct wire_frame frame;
        struct err failure = ERR_INIT;
        if (wire_frame_decode(peer->in + used, &frame, &failure) < 0) {
            control_on_closed(control, peer, failure.message);
            return;
        }
        if (peer->in_size - used < WIRE_FRAME_HEAD_SIZE + frame.size)
            break;
        control_on_frame(control, peer, &frame, peer->in + used + WIRE_FRAME_HEAD_SIZE);
        used += WIRE_FRAME_HEAD_SIZE + frame.size;
    }
    peer->in_size -= used;
    memmove(peer->in, peer->in + used, peer->in_size);
}

void control_read(struct control *control, struct control_peer *peer)
{
    control_peer_flush(peer);
    while (peer->connection.fd >= 0) {
        ssize_t got = connection_recv(&peer->connection, peer->in + peer->in_size,
                                      sizeof(peer->in) - peer->in_size);
        if (got == -EAGAIN)
            return;
        if (got < 0) {
            peer->silent = got == -ETIMEDOUT || got == -EHOSTUNREACH || got == -ENETUNREACH;
            control_on_closed(control, peer, socket_reason((int)-got));
            return;
        }
        peer->heard_ms = moment_monotonic_ms();
        peer->in_size += (size_t)got;
        control_parse_frames(control, peer);
    }
}

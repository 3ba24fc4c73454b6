/* Implements SPDY sessions; see spdy_session.h. */
#include "net/stream/spdy_session.h"

#include "base/list.h"
#include "base/mem.h"
#include "net/stream/spdy.h"
#include "net/stream/stream_session.h"

#include <stdlib.h>

enum {
    /* The stall timeout. It is long because the peer's program may be stopped in a debugger. */
    STALL_TIMEOUT_MS = 15 * 60 * 1000,
    FRAME_MAX = 2 * SPDY_CONTROL_MAX, /* maximum size of a control frame that is written */
};

struct spdy_stream {
    struct spdy_session *session;              /* NULL: the session has ended */
    struct list_link link;                     /* in spdy_session.streams */
    const struct spdy_stream_handler *handler; /* NULL until the stream is accepted */
    void *context;
    uint32_t id;
    bool peer_ended, ended; /* the peer, or this side, has ended its direction */
    bool paused;
};

struct spdy_session {
    struct stream_session base;
    const struct spdy_session_handler *handler;
    struct spdy_reader reader;
    struct spdy_writer writer;
    struct list_head streams; /* struct spdy_stream */
    size_t stream_count, paused_count;
    uint32_t last_id;
};

static struct spdy_session *spdy_session_of(struct stream_session *base)
{
    return CONTAINER_OF(base, struct spdy_session, base);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void spdy_send_frame(struct spdy_session *session, const struct buf *frame)
{
    stream_session_write(&session->base, frame->data, frame->size);
}

static void send_reset(struct spdy_session *session, uint32_t id, enum spdy_reset reason)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_rst_stream(&frame, id, reason);
    spdy_send_frame(session, &frame);
}

static void send_goaway(struct spdy_session *session, enum spdy_goaway_status reason)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_goaway(&frame, session->last_id, reason);
    spdy_send_frame(session, &frame);
}

static void send_ping(struct spdy_session *session, uint32_t id)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_ping(&frame, id);
    if (stream_session_may_pong(&session->base))
        spdy_send_frame(session, &frame);
}

static void send_data(struct spdy_stream *stream, const char *data, size_t size, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, stream->id, fin, size);
    stream_session_write(&stream->session->base, head, sizeof(head));
    stream_session_write(&stream->session->base, data, size);
}

size_t spdy_session_pending(const struct spdy_session *session)
{
    return stream_session_pending(&session->base);
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct spdy_stream *find_stream(struct spdy_session *session, uint32_t id)
{
    LIST_EACH (struct spdy_stream, stream, &session->streams, link)
        if (stream->id == id)
            return stream;
    return NULL;
}

uint32_t spdy_stream_id(const struct spdy_stream *stream)
{
    return stream->id;
}

static bool may_write(const struct spdy_stream *stream)
{
    return stream->session && !stream->ended && !stream->session->base.is_over;
}

void spdy_stream_write(struct spdy_stream *stream, const void *data, size_t size)
{
    const char *at = data;
    while (size && may_write(stream)) {
        size_t piece = size < SPDY_DATA_MAX ? size : SPDY_DATA_MAX;
        send_data(stream, at, piece, false);
        at += piece;
        size -= piece;
    }
}

void spdy_stream_end(struct spdy_stream *stream)
{
    if (may_write(stream))
        send_data(stream, NULL, 0, true);
    stream->ended = true;
}

void spdy_stream_pause(struct spdy_stream *stream, bool paused)
{
    struct spdy_session *session = stream->session;
    if (stream->paused == paused || !session)
        return;
    stream->paused = paused;
    session->paused_count += paused ? 1 : (size_t)-1;
    if (!session->base.is_over)
        stream_pause(session->base.stream, session->paused_count > 0);
}

static void unlink_stream(struct spdy_session *session, struct spdy_stream *stream)
{
    spdy_stream_pause(stream, false);
    list_remove(&stream->link);
    session->stream_count--;
    stream->session = NULL;
}

struct spdy_stream *spdy_stream_free(struct spdy_stream *stream)
{
    if (!stream)
        return NULL;
    struct spdy_session *session = stream->session;
    if (session) {
        bool whole = stream->ended && stream->peer_ended;
        unlink_stream(session, stream);
        if (!whole)
            send_reset(session, stream->id, SPDY_CANCEL);
    }
    free(stream);
    return NULL;
}

/* Removes the stream from the session and calls on_reset. The owner frees the stream now or
 * later. */
static void drop_stream(struct spdy_session *session, struct spdy_stream *stream)
{
    unlink_stream(session, stream);
    stream->handler->on_reset(stream->context);
}

void spdy_stream_accept(struct spdy_stream *stream, const struct spdy_stream_handler *handler,
                        void *context)
{
    struct spdy_session *session = stream->session;
    _cleanup_buf_ struct buf frame;
    stream->handler = handler;
    stream->context = context;
    buf_init(&frame, FRAME_MAX);
    spdy_write_syn_reply(&session->writer, &frame, stream->id, false, NULL);
    spdy_send_frame(session, &frame);
}

/* ---- end of the session ---------------------------------------------------------------------- */

static void drop_all(struct spdy_session *session)
{
    while (!list_is_empty(&session->streams))
        drop_stream(session, LIST_FIRST(&session->streams, struct spdy_stream, link));
}

static void spdy_session_ended(struct stream_session *base)
{
    drop_all(spdy_session_of(base));
}

void spdy_session_close(struct spdy_session *session)
{
    send_goaway(session, SPDY_GOAWAY_OK);
    stream_session_close(&session->base);
}

static void break_session(struct spdy_session *session, const struct err *err)
{
    send_goaway(session, SPDY_GOAWAY_PROTOCOL_ERROR);
    stream_session_end(&session->base, err);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Returns whether a new stream may have this id: the peer's ids are odd and rising. */
static bool is_new_id(const struct spdy_session *session, uint32_t id)
{
    return id % 2 == 1 && id > session->last_id;
}

static void take_syn_stream(struct spdy_session *session, const struct spdy_frame *frame)
{
    if (!is_new_id(session, frame->stream)) {
        struct err err;
        err_set(
            &err, ERR_BAD_REQUEST,
            "spdy: stream id %u is not allowed: ids must be odd and greater than the last one, %u",
            (unsigned)frame->stream, (unsigned)session->last_id);
        break_session(session, &err);
        return;
    }
    session->last_id = frame->stream;
    if (session->stream_count >= SPDY_STREAMS_MAX) {
        send_reset(session, frame->stream, SPDY_REFUSED_STREAM);
        return;
    }
    struct spdy_stream *stream = mem_zalloc(sizeof(*stream));
    stream->session = session;
    stream->id = frame->stream;
    list_push(&session->streams, &stream->link);
    session->stream_count++;
    session->handler->on_stream(session->base.context, stream, frame->headers);
    /* The owner may have accepted and freed the stream in on_stream. Then the stream is no longer
     * in the list. */
    stream = find_stream(session, frame->stream);
    if (!stream)
        return;
    if (!stream->handler) {
        unlink_stream(session, stream);
        free(stream);
        send_reset(session, frame->stream, SPDY_REFUSED_STREAM);
    } else if (frame->fin) {
        stream->peer_ended = true;
        stream->handler->on_end(stream->context);
    }
}

static void spdy_session_take_data(struct spdy_session *session, const struct spdy_frame *frame)
{
    struct spdy_stream *stream = find_stream(session, frame->stream);
    if (!stream || stream->peer_ended) {
        /* For a stream that has already ended, this is not an error: the peer may have sent the
         * data before it received the end. */
        if (frame->stream > session->last_id)
            send_reset(session, frame->stream, SPDY_INVALID_STREAM);
        return;
    }
    if (frame->size)
        stream->handler->on_data(stream->context, frame->data, frame->size);
    /* Search again, because on_data may have freed the stream. */
    stream = frame->fin ? find_stream(session, frame->stream) : NULL;
    if (stream) {
        stream->peer_ended = true;
        stream->handler->on_end(stream->context);
    }
}

static void take_frame(struct spdy_session *session, const struct spdy_frame *frame)
{
    struct spdy_stream *stream;
    switch (frame->type) {
    case SPDY_SYN_STREAM:
        take_syn_stream(session, frame);
        break;
    case SPDY_DATA:
        spdy_session_take_data(session, frame);
        break;
    case SPDY_RST_STREAM:
        stream = find_stream(session, frame->stream);
        if (stream)
            drop_stream(session, stream);
        break;
    case SPDY_PING:
        if (frame->value % 2 == 1) /* an even id would be the reply to a ping of this server */
            send_ping(session, frame->value);
        break;
    case SPDY_GOAWAY: /* the peer closes the connection next */
    case SPDY_SYN_REPLY:
    case SPDY_HEADERS:
    case SPDY_SETTINGS:
    case SPDY_WINDOW_UPDATE:
        break;
    }
}

static void spdy_session_received(struct stream_session *base, const char *data, size_t size)
{
    struct spdy_session *session = spdy_session_of(base);
    while (size && !base->is_over) {
        struct spdy_frame frame;
        struct err err = ERR_INIT;
        size_t used;
        enum spdy_result result = spdy_read(&session->reader, data, size, &used, &frame, &err);
        if (result == SPDY_BROKEN)
            break_session(session, &err);
        if (result != SPDY_FRAME)
            return;
        data += used;
        size -= used;
        take_frame(session, &frame);
    }
}

static void spdy_session_free(struct stream_session *base)
{
    struct spdy_session *session = spdy_session_of(base);
    drop_all(session);
    spdy_reader_release(&session->reader);
    spdy_writer_release(&session->writer);
    free(session);
}

struct spdy_session *spdy_session_new(struct stream *stream,
                                      const struct spdy_session_handler *handler, void *context)
{
    static const struct stream_session_ops OPS = {
        .received = spdy_session_received,
        .ended = spdy_session_ended,
        .free = spdy_session_free,
    };
    const struct stream_session_handler base = {
        .on_drain = handler->on_drain,
        .on_end = handler->on_end,
        .on_closed = handler->on_closed,
    };
    struct spdy_session *session = mem_zalloc(sizeof(*session));
    session->handler = handler;
    spdy_reader_init(&session->reader);
    spdy_writer_init(&session->writer);
    stream_set_stall_timeout(stream, STALL_TIMEOUT_MS);
    stream_session_start(&session->base, stream, &OPS, &base, context);
    return session;
}

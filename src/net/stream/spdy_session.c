/* SPDY sessions; see spdy_session.h. */
#include "net/stream/spdy_session.h"

#include "base/list.h"
#include "base/mem.h"
#include "net/stream/spdy.h"

#include <stdlib.h>

enum {
    /* An answer to a ping is dropped behind a peer that leaves so much unread. */
    PENDING_MAX = 1024 * 1024,
    PATIENCE_MS = 15 * 60 * 1000, /* behind the peer may be a program that sits in a debugger */
    FRAME_MAX = 2 * SPDY_CONTROL_MAX,
};

struct spdy_stream {
    struct spdy_session *session; /* NULL: it is over */
    struct spdy_stream *next, **link;
    const struct spdy_stream_handler *handler; /* NULL: not accepted */
    void *context;
    uint32_t id;
    bool peer_ended, ended; /* each side says no more */
    bool paused;
};

struct spdy_session {
    struct stream *line;
    const struct spdy_session_handler *handler;
    void *context;
    struct spdy_reader reader;
    struct spdy_writer writer;
    struct spdy_stream *streams;
    size_t stream_count, paused_count;
    uint32_t last_id;
    bool over; /* nothing is read or written any more but what is pending */
};

/* ---- out ------------------------------------------------------------------------------------- */

static void send_frame(struct spdy_session *session, const struct buf *frame)
{
    if (!session->over)
        stream_write(session->line, frame->data, frame->size);
}

static void send_reset(struct spdy_session *session, uint32_t id, enum spdy_reset why)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_rst_stream(&frame, id, why);
    send_frame(session, &frame);
}

static void send_goodbye(struct spdy_session *session, enum spdy_goodbye why)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_goaway(&frame, session->last_id, why);
    send_frame(session, &frame);
}

static void send_ping(struct spdy_session *session, uint32_t id)
{
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, FRAME_MAX);
    spdy_write_ping(&frame, id);
    if (stream_pending(session->line) < PENDING_MAX)
        send_frame(session, &frame);
}

static void send_data(struct spdy_stream *stream, const char *data, size_t size, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, stream->id, fin, size);
    stream_write(stream->session->line, head, sizeof(head));
    if (size)
        stream_write(stream->session->line, data, size);
}

size_t spdy_session_pending(const struct spdy_session *session)
{
    return session->over ? 0 : stream_pending(session->line);
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct spdy_stream *find_stream(struct spdy_session *session, uint32_t id)
{
    struct spdy_stream *stream = session->streams;
    while (stream && stream->id != id)
        stream = stream->next;
    return stream;
}

uint32_t spdy_stream_id(const struct spdy_stream *stream)
{
    return stream->id;
}

static bool may_write(const struct spdy_stream *stream)
{
    return stream->session && !stream->ended && !stream->session->over;
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
    if (!session->over)
        stream_pause(session->line, session->paused_count > 0);
}

static void unlink_stream(struct spdy_session *session, struct spdy_stream *stream)
{
    spdy_stream_pause(stream, false);
    list_remove(stream);
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

/* It is out of the session; the owner is told, and frees it now or later. */
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
    send_frame(session, &frame);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void drop_all(struct spdy_session *session)
{
    while (session->streams)
        drop_stream(session, session->streams);
}

/* By the peer or by a fault: tell everybody, and let the line go in order. */
static void end_session(struct spdy_session *session, const struct err *err)
{
    if (session->over)
        return;
    session->over = true;
    stream_pause(session->line, false);
    stream_finish(session->line);
    drop_all(session);
    session->handler->on_end(session->context, err);
}

void spdy_session_close(struct spdy_session *session)
{
    if (session->over)
        return;
    send_goodbye(session, SPDY_GOODBYE_OK);
    session->over = true;
    stream_finish(session->line);
}

static void break_session(struct spdy_session *session, const struct err *err)
{
    send_goodbye(session, SPDY_GOODBYE_PROTOCOL_ERROR);
    end_session(session, err);
}

/* ---- in -------------------------------------------------------------------------------------- */

/* The peer's streams have odd numbers that only grow. */
static bool is_new_id(const struct spdy_session *session, uint32_t id)
{
    return id % 2 == 1 && id > session->last_id;
}

static void take_syn_stream(struct spdy_session *session, const struct spdy_frame *frame)
{
    if (!is_new_id(session, frame->stream)) {
        struct err err;
        err_set(&err, ERR_BAD_REQUEST, "spdy: stream %u cannot be opened after %u",
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
    list_push(&session->streams, stream);
    session->stream_count++;
    session->handler->on_stream(session->context, stream, frame->headers);
    /* It may have been accepted and freed at once; then it is not in the list any more. */
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

static void take_data(struct spdy_session *session, const struct spdy_frame *frame)
{
    struct spdy_stream *stream = find_stream(session, frame->stream);
    if (!stream || stream->peer_ended) {
        /* What was under way to a stream that is gone is nobody's fault. */
        if (frame->stream > session->last_id)
            send_reset(session, frame->stream, SPDY_INVALID_STREAM);
        return;
    }
    if (frame->size)
        stream->handler->on_data(stream->context, frame->data, frame->size);
    stream = frame->fin ? find_stream(session, frame->stream) : NULL; /* it may be gone */
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
        take_data(session, frame);
        break;
    case SPDY_RST_STREAM:
        stream = find_stream(session, frame->stream);
        if (stream)
            drop_stream(session, stream);
        break;
    case SPDY_PING:
        if (frame->value % 2 == 1) /* an even one would be the answer to ours */
            send_ping(session, frame->value);
        break;
    case SPDY_GOAWAY: /* the end of the line follows */
    case SPDY_SYN_REPLY:
    case SPDY_HEADERS:
    case SPDY_SETTINGS:
    case SPDY_WINDOW_UPDATE:
        break;
    }
}

static void on_data(void *context, const char *data, size_t size)
{
    struct spdy_session *session = context;
    while (size && !session->over) {
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

static void on_open(void *context)
{
}

static void on_sent(void *context)
{
    struct spdy_session *session = context;
    if (!session->over)
        session->handler->on_drain(session->context);
}

static void on_end(void *context, const struct err *err)
{
    end_session(context, err);
}

static void on_closed(void *context)
{
    struct spdy_session *session = context;
    const struct spdy_session_handler *handler = session->handler;
    void *owner = session->context;
    session->over = true;
    drop_all(session);
    spdy_reader_release(&session->reader);
    spdy_writer_release(&session->writer);
    free(session);
    handler->on_closed(owner);
}

static const struct stream_handler LINE_HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_sent = on_sent,
    .on_end = on_end,
    .on_closed = on_closed,
};

struct spdy_session *spdy_session_new(struct stream *line,
                                      const struct spdy_session_handler *handler, void *context)
{
    struct spdy_session *session = mem_zalloc(sizeof(*session));
    session->line = line;
    session->handler = handler;
    session->context = context;
    spdy_reader_init(&session->reader);
    spdy_writer_init(&session->writer);
    stream_set_stall_timeout(line, PATIENCE_MS);
    stream_start(line, &LINE_HANDLER, session);
    return session;
}

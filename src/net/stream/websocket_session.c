/* Implements WebSocket sessions; see websocket_session.h. */
#include "net/stream/websocket_session.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/stream/stream_session.h"
#include "net/stream/websocket.h"

#include <stdlib.h>

enum { HELD_MAX = 16 * 1024 * 1024 }; /* maximum size of `held`, in bytes */

struct websocket_session {
    struct stream_session base;
    struct loop *loop;
    const struct websocket_session_handler *handler;
    struct websocket_reader reader;
    struct buf held; /* bytes that were received but not parsed, because the owner has paused */
    struct loop_task task; /* delivers `held` after the pause */
    bool writes_text;      /* messages are sent as text instead of binary */
    bool paused;
};

static struct websocket_session *websocket_session_of(struct stream_session *base)
{
    return CONTAINER_OF(base, struct websocket_session, base);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void websocket_send_frame(struct websocket_session *session, enum websocket_opcode opcode,
                                 const void *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX];
    size_t head_size = websocket_write_head(head, opcode, true, size, NULL);
    stream_session_write(&session->base, head, head_size);
    stream_session_write(&session->base, data, size);
}

static void send_close(struct websocket_session *session, int code, const char *reason)
{
    char body[WEBSOCKET_CONTROL_MAX];
    websocket_send_frame(session, WEBSOCKET_CLOSE, body, websocket_write_close(body, code, reason));
}

void websocket_session_write(struct websocket_session *session, const void *data, size_t size)
{
    websocket_send_frame(session, session->writes_text ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, data,
                         size);
}

void websocket_session_write_channel(struct websocket_session *session, int channel,
                                     const void *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX + 1];
    size_t head_size = websocket_write_head(head, WEBSOCKET_BINARY, true, size + 1, NULL);
    head[head_size++] = (char)channel;
    stream_session_write(&session->base, head, head_size);
    stream_session_write(&session->base, data, size);
}

void websocket_session_use_text(struct websocket_session *session)
{
    session->writes_text = true;
}

size_t websocket_session_pending(const struct websocket_session *session)
{
    return stream_session_pending(&session->base);
}

void websocket_session_set_stall_timeout(struct websocket_session *session,
                                         int64_t stall_timeout_ms)
{
    stream_set_stall_timeout(session->base.stream, stall_timeout_ms);
}

/* ---- end of the session ---------------------------------------------------------------------- */

static void drop_held(struct websocket_session *session)
{
    loop_defer_cancel(session->loop, &session->task);
    buf_release(&session->held);
}

static void websocket_session_ended(struct stream_session *base)
{
    drop_held(websocket_session_of(base));
}

void websocket_session_close(struct websocket_session *session, int code, const char *reason)
{
    send_close(session, code, reason);
    drop_held(session);
    stream_session_close(&session->base);
}

void websocket_session_abort(struct websocket_session *session)
{
    drop_held(session);
    stream_session_abort(&session->base);
}

static void websocket_refuse(struct websocket_session *session, int code, const struct err *err)
{
    send_close(session, code, err->message);
    stream_session_end(&session->base, err);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void take_piece(struct websocket_session *session, const struct websocket_piece *piece)
{
    switch (piece->opcode) {
    case WEBSOCKET_BINARY:
    case WEBSOCKET_TEXT:
        session->handler->on_data(session->base.context, piece->data, piece->size, piece->first,
                                  piece->last);
        break;
    case WEBSOCKET_PING:
        if (stream_session_may_pong(&session->base))
            websocket_send_frame(session, WEBSOCKET_PONG, piece->data, piece->size);
        break;
    case WEBSOCKET_CLOSE: /* send the status code of the peer back */
        send_close(session, piece->code, "");
        stream_session_end(&session->base, NULL);
        break;
    case WEBSOCKET_PONG: /* an unsolicited pong, which needs no reply */
    case WEBSOCKET_CONTINUATION:
        break;
    }
}

/* Parses bytes and delivers messages until the owner pauses. Returns the number of consumed bytes.
 * If the session has ended, all bytes count as consumed. */
static size_t websocket_take(struct websocket_session *session, const char *data, size_t size)
{
    size_t all = 0;
    while (all < size && !session->base.is_over && !session->paused) {
        struct websocket_piece piece;
        struct err err = ERR_INIT;
        size_t used;
        enum websocket_result result =
            websocket_read(&session->reader, data + all, size - all, &used, &piece, &err);
        all += used;
        if (result == WEBSOCKET_BROKEN)
            websocket_refuse(session, session->reader.refusal, &err);
        else if (result == WEBSOCKET_PIECE)
            take_piece(session, &piece);
    }
    return session->base.is_over ? size : all;
}

static void on_websocket_task(struct loop_task *task)
{
    struct websocket_session *session = CONTAINER_OF(task, struct websocket_session, task);
    struct buf held = session->held;
    buf_init(&session->held, HELD_MAX);
    size_t used = websocket_take(session, held.data, held.size);
    buf_append(&session->held, held.data + used, held.size - used);
    buf_release(&held);
    if (!session->base.is_over)
        stream_pause(session->base.stream, session->paused);
}

static void websocket_session_received(struct stream_session *base, const char *data, size_t size)
{
    struct websocket_session *session = websocket_session_of(base);
    size_t used = session->held.size ? 0 : websocket_take(session, data, size);
    if (base->is_over || used == size)
        return;
    buf_append(&session->held, data + used, size - used);
    if (session->held.overflowed) {
        struct err err;
        err_set(&err, ERR_TOO_LARGE, "websocket: the stream delivers data while it is paused");
        stream_session_end(base, &err);
    }
}

void websocket_session_pause(struct websocket_session *session, bool paused)
{
    if (session->paused == paused || session->base.is_over)
        return;
    session->paused = paused;
    if (!paused && session->held.size)
        loop_defer(session->loop, &session->task);
    else
        stream_pause(session->base.stream, paused);
}

/* ---- lifetime -------------------------------------------------------------------------------- */

static void websocket_session_opened(struct stream_session *base)
{
    websocket_session_of(base)->handler->on_open(base->context);
}

static void websocket_session_free(struct stream_session *base)
{
    struct websocket_session *session = websocket_session_of(base);
    drop_held(session);
    free(session);
}

struct websocket_session *websocket_session_new(struct loop *loop, struct stream *stream,
                                                const struct websocket_session_handler *handler,
                                                void *context)
{
    static const struct stream_session_ops OPS = {
        .opened = websocket_session_opened,
        .received = websocket_session_received,
        .ended = websocket_session_ended,
        .free = websocket_session_free,
    };
    const struct stream_session_handler base = {
        .on_drain = handler->on_drain,
        .on_end = handler->on_end,
        .on_closed = handler->on_closed,
    };
    struct websocket_session *session = mem_zalloc(sizeof(*session));
    session->loop = loop;
    session->handler = handler;
    session->task.callback = on_websocket_task;
    buf_init(&session->held, HELD_MAX);
    websocket_reader_init(&session->reader, WEBSOCKET_CLIENT, WEBSOCKET_MESSAGE_MAX);
    stream_session_start(&session->base, stream, &OPS, &base, context);
    return session;
}

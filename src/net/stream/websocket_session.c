/* WebSocket sessions; see websocket_session.h. */
#include "net/stream/websocket_session.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/stream/websocket.h"

#include <stdlib.h>

enum {
    /* An answer to a ping is dropped behind a peer that leaves so much unread. */
    PENDING_MAX = 1024 * 1024,
    HELD_MAX = 16 * 1024 * 1024, /* a line that goes on giving after it was paused */
};

struct websocket_session {
    struct loop *loop;
    struct stream *line;
    const struct websocket_session_handler *handler;
    void *context;
    struct websocket_reader reader;
    struct buf held;       /* what came before the owner's pause took effect */
    struct loop_task task; /* give it, after the pause */
    bool writes_text;      /* messages are sent as text, not as binary ones */
    bool paused;
    bool over; /* nothing is said or heard any more but what is pending */
};

/* ---- out ------------------------------------------------------------------------------------- */

static void send_frame(struct websocket_session *session, enum websocket_opcode opcode,
                       const void *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX];
    if (session->over)
        return;
    stream_write(session->line, head, websocket_write_head(head, opcode, true, size, NULL));
    if (size)
        stream_write(session->line, data, size);
}

static void send_close(struct websocket_session *session, int code, const char *reason)
{
    char body[WEBSOCKET_CONTROL_MAX];
    send_frame(session, WEBSOCKET_CLOSE, body, websocket_write_close(body, code, reason));
}

void websocket_session_write(struct websocket_session *session, const void *data, size_t size)
{
    send_frame(session, session->writes_text ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, data, size);
}

void websocket_session_write_channel(struct websocket_session *session, int channel,
                                     const void *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX + 1];
    if (session->over)
        return;
    size_t head_size = websocket_write_head(head, WEBSOCKET_BINARY, true, size + 1, NULL);
    head[head_size++] = (char)channel;
    stream_write(session->line, head, head_size);
    if (size)
        stream_write(session->line, data, size);
}

void websocket_session_write_text(struct websocket_session *session)
{
    session->writes_text = true;
}

size_t websocket_session_pending(const struct websocket_session *session)
{
    return session->over ? 0 : stream_pending(session->line);
}

void websocket_session_set_stall_timeout(struct websocket_session *session,
                                         int64_t stall_timeout_ms)
{
    stream_set_stall_timeout(session->line, stall_timeout_ms);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The line goes in its order: it waits a while for the peer to end, too, whose goodbye is thrown
 * away with whatever else still comes. */
static void leave(struct websocket_session *session)
{
    session->over = true;
    loop_defer_cancel(session->loop, &session->task);
    buf_release(&session->held);
    stream_finish(session->line);
}

/* By the peer or by a fault. */
static void end_session(struct websocket_session *session, const struct err *err)
{
    if (session->over)
        return;
    leave(session);
    session->handler->on_end(session->context, err);
}

void websocket_session_close(struct websocket_session *session, int code, const char *reason)
{
    if (session->over)
        return;
    send_close(session, code, reason);
    leave(session);
}

void websocket_session_abort(struct websocket_session *session)
{
    session->over = true;
    loop_defer_cancel(session->loop, &session->task);
    stream_close(session->line);
}

static void refuse(struct websocket_session *session, int code, const struct err *err)
{
    send_close(session, code, err->message);
    end_session(session, err);
}

/* ---- in -------------------------------------------------------------------------------------- */

static void take_piece(struct websocket_session *session, const struct websocket_piece *piece)
{
    switch (piece->opcode) {
    case WEBSOCKET_BINARY:
    case WEBSOCKET_TEXT:
        session->handler->on_data(session->context, piece->data, piece->size, piece->first,
                                  piece->last);
        break;
    case WEBSOCKET_PING:
        if (stream_pending(session->line) < PENDING_MAX)
            send_frame(session, WEBSOCKET_PONG, piece->data, piece->size);
        break;
    case WEBSOCKET_CLOSE: /* what it said is said back */
        send_close(session, piece->code, "");
        end_session(session, NULL);
        break;
    case WEBSOCKET_PONG: /* unasked for: a sign of life that says nothing */
    case WEBSOCKET_CONTINUATION:
        break;
    }
}

/* Take what these bytes say as far as the owner wants it; the bytes taken. */
static size_t take(struct websocket_session *session, const char *data, size_t size)
{
    size_t all = 0;
    while (all < size && !session->over && !session->paused) {
        struct websocket_piece piece;
        struct err err = ERR_INIT;
        size_t used;
        enum websocket_result result =
            websocket_read(&session->reader, data + all, size - all, &used, &piece, &err);
        all += used;
        if (result == WEBSOCKET_BROKEN)
            refuse(session, session->reader.refusal, &err);
        else if (result == WEBSOCKET_PIECE)
            take_piece(session, &piece);
    }
    return session->over ? size : all;
}

static void on_task(struct loop_task *task)
{
    struct websocket_session *session = CONTAINER_OF(task, struct websocket_session, task);
    struct buf held = session->held;
    buf_init(&session->held, HELD_MAX);
    size_t used = take(session, held.data, held.size);
    buf_append(&session->held, held.data + used, held.size - used);
    buf_release(&held);
    if (!session->over)
        stream_pause(session->line, session->paused);
}

static void on_data(void *context, const char *data, size_t size)
{
    struct websocket_session *session = context;
    size_t used = session->held.size ? 0 : take(session, data, size);
    if (session->over || used == size)
        return;
    buf_append(&session->held, data + used, size - used);
    if (session->held.overflowed) {
        struct err err;
        err_set(&err, ERR_TOO_LARGE, "websocket: the line goes on giving while it is paused");
        end_session(session, &err);
    }
}

void websocket_session_pause(struct websocket_session *session, bool paused)
{
    if (session->paused == paused || session->over)
        return;
    session->paused = paused;
    if (!paused && session->held.size)
        loop_defer(session->loop, &session->task);
    else
        stream_pause(session->line, paused);
}

/* ---- the line's side ------------------------------------------------------------------------- */

static void on_open(void *context)
{
    struct websocket_session *session = context;
    session->handler->on_open(session->context);
}

static void on_sent(void *context)
{
    struct websocket_session *session = context;
    if (!session->over)
        session->handler->on_drain(session->context);
}

static void on_end(void *context, const struct err *err)
{
    end_session(context, err);
}

static void on_closed(void *context)
{
    struct websocket_session *session = context;
    const struct websocket_session_handler *handler = session->handler;
    void *owner = session->context;
    loop_defer_cancel(session->loop, &session->task);
    buf_release(&session->held);
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

struct websocket_session *websocket_session_new(struct loop *loop, struct stream *line,
                                                const struct websocket_session_handler *handler,
                                                void *context)
{
    struct websocket_session *session = mem_zalloc(sizeof(*session));
    session->loop = loop;
    session->line = line;
    session->handler = handler;
    session->context = context;
    session->task.callback = on_task;
    buf_init(&session->held, HELD_MAX);
    websocket_reader_init(&session->reader, WEBSOCKET_CLIENT, WEBSOCKET_MESSAGE_MAX);
    stream_start(line, &LINE_HANDLER, session);
    return session;
}

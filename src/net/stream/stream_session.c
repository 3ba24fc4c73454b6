/* Implements the common part of sessions on a stream; see stream_session.h. */
#include "net/stream/stream_session.h"

/* Pings are ignored while this many bytes, or more, are unsent. */
enum { PONG_PENDING_MAX = 1024 * 1024 };

void stream_session_write(struct stream_session *session, const void *data, size_t size)
{
    if (!session->is_over && size)
        stream_write(session->stream, data, size);
}

size_t stream_session_pending(const struct stream_session *session)
{
    return session->is_over ? 0 : stream_pending(session->stream);
}

bool stream_session_may_pong(const struct stream_session *session)
{
    return stream_pending(session->stream) < PONG_PENDING_MAX;
}

void stream_session_close(struct stream_session *session)
{
    if (session->is_over)
        return;
    session->is_over = true;
    stream_finish(session->stream);
}

void stream_session_abort(struct stream_session *session)
{
    session->is_over = true;
    stream_close(session->stream);
}

void stream_session_end(struct stream_session *session, const struct err *err)
{
    if (session->is_over)
        return;
    stream_pause(session->stream, false);
    stream_session_close(session);
    session->ops->ended(session);
    session->handler.on_end(session->context, err);
}

/* ---- the stream's callbacks ------------------------------------------------------------------ */

static void on_session_opened(void *context)
{
    struct stream_session *session = context;
    if (session->ops->opened)
        session->ops->opened(session);
}

static void on_session_data(void *context, const char *data, size_t size)
{
    struct stream_session *session = context;
    session->ops->received(session, data, size);
}

static void on_session_sent(void *context)
{
    struct stream_session *session = context;
    if (!session->is_over)
        session->handler.on_drain(session->context);
}

static void on_session_ended(void *context, const struct err *err)
{
    stream_session_end(context, err);
}

static void on_session_closed(void *context)
{
    struct stream_session *session = context;
    struct stream_session_handler handler = session->handler;
    void *owner = session->context;
    session->is_over = true;
    session->ops->free(session);
    handler.on_closed(owner);
}

void stream_session_start(struct stream_session *session, struct stream *stream,
                          const struct stream_session_ops *ops,
                          const struct stream_session_handler *handler, void *context)
{
    static const struct stream_handler HANDLER = {
        .on_open = on_session_opened,
        .on_data = on_session_data,
        .on_sent = on_session_sent,
        .on_end = on_session_ended,
        .on_closed = on_session_closed,
    };
    session->stream = stream;
    session->ops = ops;
    session->handler = *handler;
    session->context = context;
    stream_start(stream, &HANDLER, session);
}

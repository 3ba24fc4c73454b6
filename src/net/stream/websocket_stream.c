/* Implements the stream inside a WebSocket session; see websocket_stream.h. */
#include "net/stream/websocket_stream.h"

#include "base/mem.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"

#include <stdlib.h>

struct websocket_stream {
    struct stream stream;
    struct loop *loop;
    struct stream *underlying;         /* NULL after the start */
    struct websocket_session *session; /* NULL before the start */
    bool shut;                         /* stream_shut() was called */
};

static struct websocket_stream *websocket_stream_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct websocket_stream, stream);
}

/* ---- callbacks of the session ---------------------------------------------------------------- */

static void on_websocket_open(void *context)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_open(self->stream.context);
}

static void on_websocket_data(void *context, const char *data, size_t size, bool first, bool last)
{
    const struct websocket_stream *self = context;
    if (size)
        self->stream.handler->on_data(self->stream.context, data, size);
}

static void on_websocket_drain(void *context)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_sent(self->stream.context);
}

static void on_websocket_end(void *context, const struct err *err)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_end(self->stream.context, err);
}

static void on_websocket_closed(void *context)
{
    struct websocket_stream *self = context;
    self->stream.handler->on_closed(self->stream.context);
    free(self);
}

static const struct websocket_session_handler SESSION_HANDLER = {
    .on_open = on_websocket_open,
    .on_data = on_websocket_data,
    .on_drain = on_websocket_drain,
    .on_end = on_websocket_end,
    .on_closed = on_websocket_closed,
};

/* ---- functions for the owner ----------------------------------------------------------------- */

static void websocket_stream_start(struct stream *stream)
{
    struct websocket_stream *self = websocket_stream_of(stream);
    self->session =
        websocket_session_new(self->loop, TAKE(self->underlying), &SESSION_HANDLER, self);
}

static void websocket_stream_write(struct stream *stream, const void *data, size_t size)
{
    struct websocket_stream *self = websocket_stream_of(stream);
    if (!self->shut)
        websocket_session_write(self->session, data, size);
}

static size_t websocket_stream_pending(const struct stream *stream)
{
    return websocket_session_pending(websocket_stream_of(stream)->session);
}

static void websocket_stream_pause(struct stream *stream, bool paused)
{
    websocket_session_pause(websocket_stream_of(stream)->session, paused);
}

static void websocket_stream_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    struct websocket_stream *self = websocket_stream_of(stream);
    if (self->session)
        websocket_session_set_stall_timeout(self->session, stall_timeout_ms);
    else
        stream_set_stall_timeout(self->underlying, stall_timeout_ms);
}

static void websocket_stream_shut(struct stream *stream)
{
    websocket_stream_of(stream)->shut = true;
}

static void websocket_stream_finish(struct stream *stream)
{
    websocket_session_close(websocket_stream_of(stream)->session, WEBSOCKET_NORMAL, "");
}

static void websocket_stream_close(struct stream *stream)
{
    websocket_session_abort(websocket_stream_of(stream)->session);
}

static const struct stream_ops OPS = {
    .start = websocket_stream_start,
    .write = websocket_stream_write,
    .pending = websocket_stream_pending,
    .pause = websocket_stream_pause,
    .set_stall_timeout = websocket_stream_set_stall_timeout,
    .shut = websocket_stream_shut,
    .finish = websocket_stream_finish,
    .close = websocket_stream_close,
};

struct stream *websocket_stream_new(struct loop *loop, struct stream *underlying)
{
    struct websocket_stream *self = mem_zalloc(sizeof(*self));
    *self = (struct websocket_stream){.stream.ops = &OPS, .loop = loop, .underlying = underlying};
    return &self->stream;
}

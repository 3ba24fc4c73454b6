/* A stream within WebSocket; see websocket_stream.h. */
#include "net/stream/websocket_stream.h"

#include "base/mem.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"

#include <stdlib.h>

struct websocket_stream {
    struct stream stream;
    struct loop *loop;
    struct stream *line;               /* until it is started */
    struct websocket_session *session; /* from then on */
    bool shut;
};

static struct websocket_stream *self_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct websocket_stream, stream);
}

/* ---- from the session ------------------------------------------------------------------------ */

static void on_open(void *context)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_open(self->stream.context);
}

static void on_data(void *context, const char *data, size_t size, bool first, bool last)
{
    const struct websocket_stream *self = context;
    if (size)
        self->stream.handler->on_data(self->stream.context, data, size);
}

static void on_drain(void *context)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_sent(self->stream.context);
}

static void on_end(void *context, const struct err *err)
{
    const struct websocket_stream *self = context;
    self->stream.handler->on_end(self->stream.context, err);
}

static void on_closed(void *context)
{
    struct websocket_stream *self = context;
    self->stream.handler->on_closed(self->stream.context);
    free(self);
}

static const struct websocket_session_handler SESSION_HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_drain = on_drain,
    .on_end = on_end,
    .on_closed = on_closed,
};

/* ---- the owner's calls ----------------------------------------------------------------------- */

static void start(struct stream *stream)
{
    struct websocket_stream *self = self_of(stream);
    self->session = websocket_session_new(self->loop, TAKE(self->line), &SESSION_HANDLER, self);
}

static void write_bytes(struct stream *stream, const void *data, size_t size)
{
    struct websocket_stream *self = self_of(stream);
    if (!self->shut)
        websocket_session_write(self->session, data, size);
}

static size_t pending(const struct stream *stream)
{
    return websocket_session_pending(self_of(stream)->session);
}

static void pause_reading(struct stream *stream, bool paused)
{
    websocket_session_pause(self_of(stream)->session, paused);
}

static void set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    struct websocket_stream *self = self_of(stream);
    if (self->session)
        websocket_session_set_stall_timeout(self->session, stall_timeout_ms);
    else
        stream_set_stall_timeout(self->line, stall_timeout_ms);
}

static void shut(struct stream *stream)
{
    self_of(stream)->shut = true;
}

static void finish(struct stream *stream)
{
    websocket_session_close(self_of(stream)->session, WEBSOCKET_NORMAL, "");
}

static void close_stream(struct stream *stream)
{
    websocket_session_abort(self_of(stream)->session);
}

static const struct stream_ops OPS = {
    .start = start,
    .write = write_bytes,
    .pending = pending,
    .pause = pause_reading,
    .set_stall_timeout = set_stall_timeout,
    .shut = shut,
    .finish = finish,
    .close = close_stream,
};

struct stream *websocket_stream_new(struct loop *loop, struct stream *line)
{
    struct websocket_stream *self = mem_zalloc(sizeof(*self));
    *self = (struct websocket_stream){.stream.ops = &OPS, .loop = loop, .line = line};
    return &self->stream;
}

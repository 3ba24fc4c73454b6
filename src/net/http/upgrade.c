/* Implements the stream that http_upgrade() returns: the connection of a server after an upgrade.
 * It forwards all calls and callbacks between the connection's stream and the new protocol. First
 * it delivers the bytes that were read before the upgrade. The server may close the connection at
 * any time. */
#include "net/http/connection.h"

#include "base/mem.h"

static struct http_connection *connection_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct http_connection, upgrade.stream);
}

/* ---- callbacks of the connection's stream ---------------------------------------------------- */

static void upgrade_report_end(struct http_connection *self, const struct err *err)
{
    struct http_upgrade *upgrade = &self->upgrade;
    if (upgrade->finished)
        return;
    upgrade->end_reported = true;
    upgrade->stream.handler->on_end(upgrade->stream.context, err);
}

/* Delivers the bytes that were read before the upgrade. Then the connection's stream may deliver
 * more. */
static void upgrade_deliver(struct http_connection *self)
{
    struct http_upgrade *upgrade = &self->upgrade;
    if (!upgrade->opened) {
        upgrade->opened = true;
        upgrade->stream.handler->on_open(upgrade->stream.context);
    }
    if (self->in.size && !upgrade->paused && !upgrade->finished) {
        struct buf in = self->in;
        buf_init(&self->in, in.max);
        upgrade->stream.handler->on_data(upgrade->stream.context, in.data, in.size);
        buf_release(&in);
    }
    if (upgrade->finished)
        return;
    stream_pause(self->stream, upgrade->paused);
    if (self->peer_ended && !self->in.size && !upgrade->end_reported)
        upgrade_report_end(self, NULL);
}

static void on_upgrade_task(struct loop_task *task)
{
    upgrade_deliver(CONTAINER_OF(task, struct http_connection, upgrade.task));
}

static void on_upgrade_open(void *context)
{
}

static void on_upgrade_data(void *context, const char *data, size_t size)
{
    struct http_connection *self = context;
    struct http_upgrade *upgrade = &self->upgrade;
    if (upgrade->opened && !self->in.size) {
        upgrade->stream.handler->on_data(upgrade->stream.context, data, size);
        return;
    }
    buf_append(&self->in, data, size);
    stream_pause(self->stream, true);
}

static void on_upgrade_sent(void *context)
{
    struct http_upgrade *upgrade = &((struct http_connection *)context)->upgrade;
    if (upgrade->opened && !upgrade->finished)
        upgrade->stream.handler->on_sent(upgrade->stream.context);
}

static void on_upgrade_end(void *context, const struct err *err)
{
    struct http_connection *self = context;
    self->peer_ended = true;
    if (err)
        upgrade_report_end(self, err);
    else
        /* Report the end after the bytes that were read before the upgrade. */
        loop_defer(self->service->loop, &self->upgrade.task);
}

static void on_upgrade_closed(void *context)
{
    struct http_connection *self = context;
    const struct stream *stream = &self->upgrade.stream;
    loop_defer_cancel(self->service->loop, &self->upgrade.task);
    stream->handler->on_closed(stream->context);
    http_connection_gone(self);
}

static const struct stream_handler UNDERLYING_HANDLER = {
    .on_open = on_upgrade_open,
    .on_data = on_upgrade_data,
    .on_sent = on_upgrade_sent,
    .on_end = on_upgrade_end,
    .on_closed = on_upgrade_closed,
};

/* ---- functions of the returned stream -------------------------------------------------------- */

static void upgrade_start(struct stream *stream)
{
    struct http_connection *self = connection_of(stream);
    loop_defer(self->service->loop, &self->upgrade.task);
}

static void upgrade_write(struct stream *stream, const void *data, size_t size)
{
    stream_write(connection_of(stream)->stream, data, size);
}

static size_t upgrade_pending(const struct stream *stream)
{
    return stream_pending(connection_of(stream)->stream);
}

static void upgrade_pause(struct stream *stream, bool paused)
{
    struct http_connection *self = connection_of(stream);
    self->upgrade.paused = paused;
    if (!paused && self->in.size)
        loop_defer(self->service->loop, &self->upgrade.task);
    else
        stream_pause(self->stream, paused);
}

static void upgrade_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    stream_set_stall_timeout(connection_of(stream)->stream, stall_timeout_ms);
}

static void upgrade_shut(struct stream *stream)
{
    stream_shut(connection_of(stream)->stream);
}

static void upgrade_finish(struct stream *stream)
{
    struct http_connection *self = connection_of(stream);
    self->upgrade.finished = true;
    stream_finish(self->stream);
}

static void upgrade_close(struct stream *stream)
{
    struct http_connection *self = connection_of(stream);
    self->upgrade.finished = true;
    http_connection_close(self);
}

static const struct stream_ops OPS = {
    .start = upgrade_start,
    .write = upgrade_write,
    .pending = upgrade_pending,
    .pause = upgrade_pause,
    .set_stall_timeout = upgrade_set_stall_timeout,
    .shut = upgrade_shut,
    .finish = upgrade_finish,
    .close = upgrade_close,
};

/* ---- functions for connection.c -------------------------------------------------------------- */

void http_upgrade_init(struct http_connection *self)
{
    self->upgrade = (struct http_upgrade){.stream.ops = &OPS, .task.callback = on_upgrade_task};
    self->stream->handler = &UNDERLYING_HANDLER;
    self->stream->context = self;
}

void http_upgrade_cancel(struct http_connection *self)
{
    struct err err;
    loop_defer_cancel(self->service->loop, &self->upgrade.task);
    err_set(&err, ERR_CANCELED, "the server is shutting down");
    upgrade_report_end(self, &err);
    self->upgrade.finished = true;
}

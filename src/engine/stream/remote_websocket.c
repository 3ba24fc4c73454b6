/* Exec and attach over WebSocket; see remote_session.h. Each message is a channel number and data
 * of that channel. For clients that cannot send binary messages, the number is a digit and the data
 * is base64. */
#include "engine/stream/remote_session.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/mem.h"
#include "engine/internal.h"
#include "engine/stream/channel_message.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"

#include <stdlib.h>
#include <string.h>

/* The most bytes of one base64 message, which is kept until it is complete. */
enum { TEXT_MAX = 1024 * 1024 };

struct remote_websocket {
    struct remote_session base;
    struct websocket_session *session;
    struct remote_websocket_variant variant;
    int channel;     /* the channel of the message that is being read, or CHANNEL_MESSAGE_UNKNOWN */
    struct buf text; /* the base64 message that is being read */
};

/* ---- The end --------------------------------------------------------------------------------- */

static void remote_websocket_close(struct remote_websocket *self, int code, const char *reason)
{
    remote_session_detach(&self->base);
    websocket_session_close(self->session, code, reason);
}

static void on_remote_websocket_server_end(struct remote_session *base)
{
    remote_websocket_close(CONTAINER_OF(base, struct remote_websocket, base), WEBSOCKET_GOING_AWAY,
                           "");
}

/* ---- Operations for remote_command.c --------------------------------------------------------- */

/* Writes the bytes in pieces, each of which is a complete base64 text. */
static void remote_websocket_write_text(struct remote_websocket *self, enum remote_channel channel,
                                        const char *bytes, size_t size)
{
    enum { PIECE = 12 * 1024 };
    for (size_t at = 0; at < size; at += PIECE) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        const char *text = base64_encode(arena, bytes + at, size - at < PIECE ? size - at : PIECE);
        const char *message = arena_printf(arena, "%c%s", '0' + channel, text);
        websocket_session_write(self->session, message, strlen(message));
    }
}

static void remote_websocket_write(void *context, enum remote_channel channel, const void *data,
                                   size_t size)
{
    struct remote_websocket *self = context;
    if (self->variant.base64)
        remote_websocket_write_text(self, channel, data, size);
    else
        websocket_session_write_channel(self->session, channel, data, size);
}

static size_t remote_websocket_pending(void *context)
{
    struct remote_websocket *self = context;
    return websocket_session_pending(self->session);
}

static void remote_websocket_pause(void *context, bool paused)
{
    struct remote_websocket *self = context;
    websocket_session_pause(self->session, paused);
}

static void remote_websocket_finish(void *context)
{
    struct remote_websocket *self = context;
    self->base.command = NULL;
    remote_websocket_close(self, WEBSOCKET_NORMAL, "");
}

static const struct remote_transport TRANSPORT = {
    .write = remote_websocket_write,
    .pending = remote_websocket_pending,
    .pause = remote_websocket_pause,
    .finish = remote_websocket_finish,
};

/* ---- The client's messages ------------------------------------------------------------------- */

static void on_remote_websocket_open(void *context)
{
    const struct remote_websocket *self = context;
    if (self->base.command)
        remote_command_start(self->base.command);
}

static void remote_websocket_take_bytes(struct remote_websocket *self, const char *data,
                                        size_t size, bool last)
{
    switch (self->channel) {
    case REMOTE_STDIN:
        if (size)
            remote_command_input(self->base.command, data, size);
        break;
    case REMOTE_RESIZE:
        buf_append(&self->base.size, data, size);
        if (last)
            remote_session_resize(&self->base);
        break;
    case CHANNEL_MESSAGE_CLOSE:
        if (self->variant.half_closes && size && data[0] == REMOTE_STDIN)
            remote_command_input_end(self->base.command);
        break;
    default: /* no input is expected on other channels */
        break;
    }
}

/* Decodes a complete base64 message. */
static void remote_websocket_take_text(struct remote_websocket *self)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct buf *text = &self->text;
    char *bytes;
    size_t size;
    if (text->size == 0)
        return;
    if (memchr(text->data, '\0', text->size) || text->data[0] < '0' || text->data[0] > '9' ||
        base64_decode(arena, text->data + 1, &bytes, &size, NULL) < 0) {
        remote_websocket_close(self, WEBSOCKET_UNSUPPORTED,
                               "a message must be the digit of a channel followed by base64");
        return;
    }
    self->channel = text->data[0] - '0';
    remote_websocket_take_bytes(self, bytes, size, true);
}

static void remote_websocket_take_piece(struct remote_websocket *self, const char *data,
                                        size_t size, bool first, bool last)
{
    if (!self->base.command)
        return;
    if (first) {
        buf_clear(&self->text);
        buf_clear(&self->base.size);
    }
    buf_append(&self->text, data, size);
    if (self->text.overflowed)
        remote_websocket_close(self, WEBSOCKET_TOO_LARGE,
                               "a base64 message must not be larger than 1 MiB");
    else if (last)
        remote_websocket_take_text(self);
}

static void on_remote_websocket_data(void *context, const char *data, size_t size, bool first,
                                     bool last)
{
    struct remote_websocket *self = context;
    if (self->variant.base64) {
        remote_websocket_take_piece(self, data, size, first, last);
        return;
    }
    if (first)
        buf_clear(&self->base.size);
    channel_message_read(&self->channel, first, &data, &size);
    if (self->base.command && self->channel != CHANNEL_MESSAGE_UNKNOWN)
        remote_websocket_take_bytes(self, data, size, last);
}

static void on_remote_websocket_drain(void *context)
{
    struct remote_websocket *self = context;
    remote_session_drained(&self->base);
}

static void on_remote_websocket_end(void *context, const struct err *err)
{
    struct remote_websocket *self = context;
    remote_session_detach(&self->base);
}

static void on_remote_websocket_closed(void *context)
{
    struct remote_websocket *self = context;
    remote_session_release(&self->base);
    buf_release(&self->text);
    free(self);
}

static const struct websocket_session_handler SESSION_HANDLER = {
    .on_open = on_remote_websocket_open,
    .on_data = on_remote_websocket_data,
    .on_drain = on_remote_websocket_drain,
    .on_end = on_remote_websocket_end,
    .on_closed = on_remote_websocket_closed,
};

void remote_websocket_new(struct engine *engine, struct stream *stream,
                          const struct remote_request *request,
                          const struct remote_websocket_variant *variant)
{
    struct remote_websocket *self = mem_zalloc(sizeof(*self));
    self->variant = *variant;
    self->channel = CHANNEL_MESSAGE_UNKNOWN;
    buf_init(&self->text, TEXT_MAX);
    remote_session_init(&self->base, engine, request, &TRANSPORT, on_remote_websocket_server_end);
    self->session = websocket_session_new(engine_loop(engine), stream, &SESSION_HANDLER, self);
    if (variant->base64)
        websocket_session_use_text(self->session);
}

/* Exec and attach over WebSocket: each message is a channel's number and its bytes, or both as text
 * for clients that have no bytes; see remote_carriers.h. */
#include "engine/stream/remote_session.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/api/open_calls.h"
#include "engine/internal.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLOSES = 0xFF,          /* v5: "no more comes on the channel that is named next" */
    SIZE_MAX_BYTES = 1024,  /* of one size of a terminal */
    TEXT_MAX = 1024 * 1024, /* of one message in base64, which is kept until it is whole */
};

struct remote_websocket {
    struct websocket_session *session;
    struct remote_command *command; /* NULL: gone */
    struct remote_websocket_form form;
    struct open_call link;
    int channel; /* of the message that is being read; -1: not known yet */
    struct buf size;
    struct buf text; /* the message that is being read, where it is in base64 */
    bool over;
};

/* ---- the end --------------------------------------------------------------------------------- */

/* From here on the engine may go. */
static void detach(struct remote_websocket *self)
{
    if (self->over)
        return;
    self->over = true;
    open_call_remove(&self->link);
    if (self->command)
        remote_command_leave(TAKE(self->command));
}

static void end_link(struct open_call *link)
{
    struct remote_websocket *self = CONTAINER_OF(link, struct remote_websocket, link);
    detach(self);
    websocket_session_close(self->session, WEBSOCKET_GOING_AWAY, "");
}

/* ---- the session's command ------------------------------------------------------------------- */

/* In pieces that are whole groups of base64. */
static void write_text(struct remote_websocket *self, enum remote_channel channel,
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

static void write_channel(void *context, enum remote_channel channel, const void *data, size_t size)
{
    struct remote_websocket *self = context;
    if (self->form.base64)
        write_text(self, channel, data, size);
    else
        websocket_session_write_channel(self->session, channel, data, size);
}

static size_t pending(void *context)
{
    struct remote_websocket *self = context;
    return websocket_session_pending(self->session);
}

static void pause_input(void *context, bool paused)
{
    struct remote_websocket *self = context;
    websocket_session_pause(self->session, paused);
}

static void finish(void *context)
{
    struct remote_websocket *self = context;
    self->command = NULL;
    detach(self);
    websocket_session_close(self->session, WEBSOCKET_NORMAL, "");
}

static const struct remote_transport CARRIER = {
    .write = write_channel,
    .pending = pending,
    .pause = pause_input,
    .finish = finish,
};

/* ---- the caller's messages ------------------------------------------------------------------- */

static void on_open(void *context)
{
    const struct remote_websocket *self = context;
    if (self->command)
        remote_command_start(self->command);
}

static void take_bytes(struct remote_websocket *self, const char *data, size_t size, bool last)
{
    switch (self->channel) {
    case REMOTE_STDIN:
        if (size)
            remote_command_input(self->command, data, size);
        break;
    case REMOTE_RESIZE:
        buf_append(&self->size, data, size);
        if (last && !self->size.overflowed)
            remote_command_resize(self->command, self->size.data, self->size.size);
        break;
    case CLOSES:
        if (self->form.half_closes && size && data[0] == REMOTE_STDIN)
            remote_command_input_end(self->command);
        break;
    default: /* nothing is expected on the others */
        break;
    }
}

static void refuse_text(struct remote_websocket *self, int code, const char *reason)
{
    detach(self);
    websocket_session_close(self->session, code, reason);
}

/* A whole message of text as the bytes it stands for. */
static void take_text(struct remote_websocket *self)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct buf *text = &self->text;
    char *bytes;
    size_t size;
    if (text->size == 0)
        return;
    if (memchr(text->data, '\0', text->size) || text->data[0] < '0' || text->data[0] > '9' ||
        base64_decode(arena, text->data + 1, &bytes, &size, NULL) < 0) {
        refuse_text(self, WEBSOCKET_UNSUPPORTED,
                    "a message is the digit of a channel and base64 behind it");
        return;
    }
    self->channel = text->data[0] - '0';
    take_bytes(self, bytes, size, true);
}

static void on_text(struct remote_websocket *self, const char *data, size_t size, bool first,
                    bool last)
{
    if (!self->command)
        return;
    if (first) {
        buf_clear(&self->text);
        buf_clear(&self->size);
    }
    buf_append(&self->text, data, size);
    if (self->text.overflowed)
        refuse_text(self, WEBSOCKET_TOO_LARGE, "a message in base64 has at most 1 MiB");
    else if (last)
        take_text(self);
}

static void on_data(void *context, const char *data, size_t size, bool first, bool last)
{
    struct remote_websocket *self = context;
    if (self->form.base64) {
        on_text(self, data, size, first, last);
        return;
    }
    if (first) {
        self->channel = -1;
        buf_clear(&self->size);
    }
    if (self->channel < 0 && size) {
        self->channel = (unsigned char)data[0];
        data++;
        size--;
    }
    if (self->command && self->channel >= 0)
        take_bytes(self, data, size, last);
}

static void on_drain(void *context)
{
    const struct remote_websocket *self = context;
    if (self->command)
        remote_command_drained(self->command);
}

static void on_end(void *context, const struct err *err)
{
    detach(context);
}

static void on_closed(void *context)
{
    struct remote_websocket *self = context;
    detach(self);
    buf_release(&self->size);
    buf_release(&self->text);
    free(self);
}

static const struct websocket_session_handler SESSION_HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_drain = on_drain,
    .on_end = on_end,
    .on_closed = on_closed,
};

void remote_websocket_new(struct engine *engine, struct stream *line,
                          const struct remote_request *request,
                          const struct remote_websocket_form *form)
{
    struct remote_websocket *self = mem_zalloc(sizeof(*self));
    self->form = *form;
    self->channel = -1;
    buf_init(&self->size, SIZE_MAX_BYTES);
    buf_init(&self->text, TEXT_MAX);
    open_call_add(engine_open_calls(engine), &self->link, "pods", end_link);
    self->command = remote_command_new(engine, request, &CARRIER, self);
    self->session = websocket_session_new(engine_loop(engine), line, &SESSION_HANDLER, self);
    if (form->base64)
        websocket_session_write_text(self->session);
}

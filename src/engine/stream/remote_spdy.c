/* Exec and attach over SPDY/3.1: the client opens one stream per channel; see remote_session.h. */
#include "engine/stream/remote_session.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/internal.h"
#include "net/stream/spdy_session.h"

#include <stdlib.h>

enum { STREAMS_TIMEOUT_MS = 30 * 1000 }; /* the time in which the client must open its streams */

struct remote_spdy;

struct remote_spdy_channel {
    struct remote_spdy *self;
    struct spdy_stream *stream; /* NULL: not opened yet, or closed */
    bool expected;              /* the client must open the stream before the command starts */
    bool arrived;               /* the client has opened the stream */
};

struct remote_spdy {
    struct remote_session base;
    struct spdy_session *session;
    struct remote_spdy_channel channels[REMOTE_CHANNELS];
    struct loop_timer timer;
    bool started;
};

static const char *const STREAM_TYPES[REMOTE_CHANNELS] = {[REMOTE_STDIN] = "stdin",
                                                          [REMOTE_STDOUT] = "stdout",
                                                          [REMOTE_STDERR] = "stderr",
                                                          [REMOTE_ERROR] = "error",
                                                          [REMOTE_RESIZE] = "resize"};

/* ---- The end --------------------------------------------------------------------------------- */

static void remote_spdy_detach(struct remote_spdy *self)
{
    loop_timer_stop(&self->timer);
    remote_session_detach(&self->base);
}

static void remote_spdy_close(struct remote_session *base)
{
    struct remote_spdy *self = CONTAINER_OF(base, struct remote_spdy, base);
    remote_spdy_detach(self);
    for (int i = 0; i < REMOTE_CHANNELS; i++)
        if (self->channels[i].stream)
            spdy_stream_end(self->channels[i].stream);
    spdy_session_close(self->session);
}

static void on_remote_spdy_timeout(struct loop_timer *timer)
{
    remote_spdy_close(&CONTAINER_OF(timer, struct remote_spdy, timer)->base);
}

/* ---- Operations for remote_command.c --------------------------------------------------------- */

static void remote_spdy_write(void *context, enum remote_channel channel, const void *data,
                              size_t size)
{
    struct remote_spdy *self = context;
    if (self->channels[channel].stream)
        spdy_stream_write(self->channels[channel].stream, data, size);
}

static size_t remote_spdy_pending(void *context)
{
    struct remote_spdy *self = context;
    return spdy_session_pending(self->session);
}

static void remote_spdy_pause(void *context, bool paused)
{
    struct remote_spdy *self = context;
    if (self->channels[REMOTE_STDIN].stream)
        spdy_stream_pause(self->channels[REMOTE_STDIN].stream, paused);
}

static void remote_spdy_finish(void *context)
{
    struct remote_spdy *self = context;
    self->base.command = NULL;
    remote_spdy_close(&self->base);
}

static const struct remote_transport TRANSPORT = {
    .write = remote_spdy_write,
    .pending = remote_spdy_pending,
    .pause = remote_spdy_pause,
    .finish = remote_spdy_finish,
};

/* ---- The client's streams -------------------------------------------------------------------- */

/* Each line of the resize stream is one terminal size as JSON. */
static void remote_spdy_take_size(struct remote_spdy *self, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != '\n')
            buf_append_char(&self->base.size, data[i]);
        else
            remote_session_resize(&self->base);
    }
}

static void on_remote_spdy_data(void *context, const char *data, size_t size)
{
    struct remote_spdy_channel *channel = context;
    struct remote_spdy *self = channel->self;
    if (!self->base.command)
        return;
    if (channel == &self->channels[REMOTE_STDIN])
        remote_command_input(self->base.command, data, size);
    else if (channel == &self->channels[REMOTE_RESIZE])
        remote_spdy_take_size(self, data, size);
}

static void on_remote_spdy_stream_end(void *context)
{
    struct remote_spdy_channel *channel = context;
    struct remote_spdy *self = channel->self;
    if (self->base.command && channel == &self->channels[REMOTE_STDIN])
        remote_command_input_end(self->base.command);
}

static void on_remote_spdy_reset(void *context)
{
    struct remote_spdy_channel *channel = context;
    channel->stream = spdy_stream_free(channel->stream);
    on_remote_spdy_stream_end(channel);
}

static const struct spdy_stream_handler STREAM_HANDLER = {
    .on_data = on_remote_spdy_data,
    .on_end = on_remote_spdy_stream_end,
    .on_reset = on_remote_spdy_reset,
};

static void remote_spdy_start_if_complete(struct remote_spdy *self)
{
    for (int i = 0; i < REMOTE_CHANNELS; i++)
        if (self->channels[i].expected && !self->channels[i].arrived)
            return;
    loop_timer_stop(&self->timer);
    self->started = true;
    remote_command_start(self->base.command);
}

/* The SPDY session rejects a stream that gets no handler here. */
static void on_remote_spdy_stream(void *context, struct spdy_stream *stream,
                                  const struct http_header *headers)
{
    struct remote_spdy *self = context;
    const char *type = http_header_get(headers, "streamtype");
    for (int i = 0; i < REMOTE_CHANNELS && !self->base.detached && !self->started; i++) {
        struct remote_spdy_channel *channel = &self->channels[i];
        if (!str_eq(type, STREAM_TYPES[i]) || !channel->expected || channel->arrived)
            continue;
        channel->arrived = true;
        channel->stream = stream;
        spdy_stream_accept(stream, &STREAM_HANDLER, channel);
        remote_spdy_start_if_complete(self);
        return;
    }
}

/* ---- The session ----------------------------------------------------------------------------- */

static void on_remote_spdy_drain(void *context)
{
    struct remote_spdy *self = context;
    remote_session_drained(&self->base);
}

static void on_remote_spdy_end(void *context, const struct err *err)
{
    remote_spdy_detach(context);
}

static void on_remote_spdy_closed(void *context)
{
    struct remote_spdy *self = context;
    remote_spdy_detach(self);
    remote_session_release(&self->base);
    free(self);
}

static const struct spdy_session_handler SESSION_HANDLER = {
    .on_stream = on_remote_spdy_stream,
    .on_drain = on_remote_spdy_drain,
    .on_end = on_remote_spdy_end,
    .on_closed = on_remote_spdy_closed,
};

void remote_spdy_new(struct engine *engine, struct stream *stream,
                     const struct remote_request *request, bool resizes)
{
    struct remote_spdy *self = mem_zalloc(sizeof(*self));
    const struct engine_pod_command *command = &request->command;
    const bool expected[REMOTE_CHANNELS] = {
        [REMOTE_STDIN] = command->in,
        [REMOTE_STDOUT] = command->out,
        [REMOTE_STDERR] = command->err && !command->terminal,
        [REMOTE_ERROR] = true,
        [REMOTE_RESIZE] = command->terminal && resizes,
    };
    for (int i = 0; i < REMOTE_CHANNELS; i++)
        self->channels[i] = (struct remote_spdy_channel){.self = self, .expected = expected[i]};
    loop_timer_init(engine_loop(engine), &self->timer, on_remote_spdy_timeout);
    loop_timer_start(&self->timer, STREAMS_TIMEOUT_MS);
    remote_session_init(&self->base, engine, request, &TRANSPORT, remote_spdy_close);
    self->session = spdy_session_new(stream, &SESSION_HANDLER, self);
}

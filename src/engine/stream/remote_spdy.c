/* Exec and attach over SPDY: the caller opens a stream for each channel; see remote_carriers.h. */
#include "engine/stream/remote_session.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/open_calls.h"
#include "engine/internal.h"
#include "net/stream/spdy_session.h"

#include <stdlib.h>
#include <string.h>

enum {
    STREAMS_TIMEOUT_MS = 30 * 1000, /* for all of the caller's streams to come */
    SIZE_MAX_BYTES = 1024,          /* of one size of a terminal */
};

struct remote_spdy;

struct channel {
    struct remote_spdy *self;
    struct spdy_stream *stream; /* NULL: not there yet, or no more */
    bool expected, came;
};

struct remote_spdy {
    struct spdy_session *session;
    struct remote_command *command; /* NULL: gone */
    struct channel channels[REMOTE_CHANNELS];
    struct loop_timer timer;
    struct open_call link;
    struct buf size; /* of the terminal, as far as it came */
    bool started, over;
};

static const char *const STREAM_TYPES[REMOTE_CHANNELS] = {[REMOTE_STDIN] = "stdin",
                                                          [REMOTE_STDOUT] = "stdout",
                                                          [REMOTE_STDERR] = "stderr",
                                                          [REMOTE_ERROR] = "error",
                                                          [REMOTE_RESIZE] = "resize"};

/* ---- the end --------------------------------------------------------------------------------- */

/* From here on the engine may go. */
static void detach(struct remote_spdy *self)
{
    if (self->over)
        return;
    self->over = true;
    loop_timer_stop(&self->timer);
    open_call_remove(&self->link);
    if (self->command)
        remote_command_leave(TAKE(self->command));
}

static void close_session(struct remote_spdy *self)
{
    detach(self);
    for (int i = 0; i < REMOTE_CHANNELS; i++)
        if (self->channels[i].stream)
            spdy_stream_end(self->channels[i].stream);
    spdy_session_close(self->session);
}

static void end_link(struct open_call *link)
{
    close_session(CONTAINER_OF(link, struct remote_spdy, link));
}

static void on_timeout(struct loop_timer *timer)
{
    close_session(CONTAINER_OF(timer, struct remote_spdy, timer));
}

/* ---- the session's command ------------------------------------------------------------------- */

static void write_channel(void *context, enum remote_channel channel, const void *data, size_t size)
{
    struct remote_spdy *self = context;
    if (self->channels[channel].stream)
        spdy_stream_write(self->channels[channel].stream, data, size);
}

static size_t pending(void *context)
{
    struct remote_spdy *self = context;
    return spdy_session_pending(self->session);
}

static void pause_input(void *context, bool paused)
{
    struct remote_spdy *self = context;
    if (self->channels[REMOTE_STDIN].stream)
        spdy_stream_pause(self->channels[REMOTE_STDIN].stream, paused);
}

static void finish(void *context)
{
    struct remote_spdy *self = context;
    self->command = NULL;
    close_session(self);
}

static const struct remote_transport CARRIER = {
    .write = write_channel,
    .pending = pending,
    .pause = pause_input,
    .finish = finish,
};

/* ---- streams --------------------------------------------------------------------------------- */

/* Sizes come as JSON, one a line. */
static void take_size(struct remote_spdy *self, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != '\n') {
            buf_append_char(&self->size, data[i]);
            continue;
        }
        if (!self->size.overflowed)
            remote_command_resize(self->command, self->size.data, self->size.size);
        buf_clear(&self->size);
    }
}

static void on_data(void *context, const char *data, size_t size)
{
    struct channel *channel = context;
    struct remote_spdy *self = channel->self;
    if (!self->command)
        return;
    if (channel == &self->channels[REMOTE_STDIN])
        remote_command_input(self->command, data, size);
    else if (channel == &self->channels[REMOTE_RESIZE])
        take_size(self, data, size);
}

static void on_end(void *context)
{
    struct channel *channel = context;
    struct remote_spdy *self = channel->self;
    if (self->command && channel == &self->channels[REMOTE_STDIN])
        remote_command_input_end(self->command);
}

static void on_reset(void *context)
{
    struct channel *channel = context;
    channel->stream = spdy_stream_free(channel->stream);
    on_end(channel);
}

static const struct spdy_stream_handler STREAM_HANDLER = {
    .on_data = on_data,
    .on_end = on_end,
    .on_reset = on_reset,
};

static void start_if_complete(struct remote_spdy *self)
{
    for (int i = 0; i < REMOTE_CHANNELS; i++)
        if (self->channels[i].expected && !self->channels[i].came)
            return;
    loop_timer_stop(&self->timer);
    self->started = true;
    remote_command_start(self->command);
}

static void on_stream(void *context, struct spdy_stream *stream, const struct http_header *headers)
{
    struct remote_spdy *self = context;
    const char *type = http_header_get(headers, "streamtype");
    for (int i = 0; i < REMOTE_CHANNELS && !self->over && !self->started; i++) {
        struct channel *channel = &self->channels[i];
        if (!str_eq(type, STREAM_TYPES[i]) || !channel->expected || channel->came)
            continue;
        channel->came = true;
        channel->stream = stream;
        spdy_stream_accept(stream, &STREAM_HANDLER, channel);
        start_if_complete(self);
        return;
    } /* else it is refused */
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_drain(void *context)
{
    const struct remote_spdy *self = context;
    if (self->command)
        remote_command_drained(self->command);
}

static void on_session_end(void *context, const struct err *err)
{
    detach(context);
}

static void on_closed(void *context)
{
    struct remote_spdy *self = context;
    detach(self);
    buf_release(&self->size);
    free(self);
}

static const struct spdy_session_handler SESSION_HANDLER = {
    .on_stream = on_stream,
    .on_drain = on_drain,
    .on_end = on_session_end,
    .on_closed = on_closed,
};

void remote_spdy_new(struct engine *engine, struct stream *line,
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
        self->channels[i] = (struct channel){.self = self, .expected = expected[i]};
    buf_init(&self->size, SIZE_MAX_BYTES);
    loop_timer_init(engine_loop(engine), &self->timer, on_timeout);
    loop_timer_start(&self->timer, STREAMS_TIMEOUT_MS);
    open_call_add(engine_open_calls(engine), &self->link, "pods", end_link);
    self->command = remote_command_new(engine, request, &CARRIER, self);
    self->session = spdy_session_new(line, &SESSION_HANDLER, self);
}

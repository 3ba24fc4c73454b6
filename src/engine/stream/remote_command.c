/* Implements the commands of exec and attach; see remote_command.h. */
#include "engine/stream/remote_command.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/internal.h"
#include "engine/stream/remote_status.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Above this many bytes that the command has not read, reading from the client pauses. */
    TO_POD_HIGH = 256 * 1024,
    /* Above this many bytes that the client has not read, reading from the command pauses. */
    TO_PEER_HIGH = 256 * 1024,
    EARLY_HIGH = 64 * 1024,       /* like TO_POD_HIGH, before the command runs */
    EARLY_MAX = 16 * 1024 * 1024, /* the most bytes of input kept before the command runs */
};

/* One standard stream of the command, and the channel to the client for it. */
struct remote_stdio {
    struct remote_command *command;
    enum remote_channel channel;
    struct stream *stream; /* NULL: not requested, not started yet, or closed */
    bool open;             /* the stream accepts bytes */
    bool ended;            /* the process has closed the stream, or the stream has failed */
    bool closing;          /* stream_close() was called */
};

enum { IN, OUT, ERRORS, STDIO_COUNT };

struct remote_command {
    struct loop *loop;
    struct arena *arena;
    struct engine_pod_backend backend;
    struct json *pod;
    struct engine_pod_command command;
    bool plain_errors;
    /* NULL: the client is gone, or all output and the Status were passed to the transport. */
    const struct remote_transport *transport;
    void *context;
    void *run; /* the backend's handle; NULL: not started yet, or ended */
    struct remote_stdio stdio[STDIO_COUNT];
    struct buf early; /* input that arrived before the command's stream was open */
    bool input_ended;
    bool started;      /* the process was started, or the container was attached */
    bool over;         /* the process has ended, or could not be started */
    int columns, rows; /* the newest terminal size from the client; 0: none has arrived */
    int exit_code;
    char message[ERR_MESSAGE_MAX];
    struct err err;
};

/* ---- The end --------------------------------------------------------------------------------- */

static void remote_stdio_close(struct remote_stdio *stdio)
{
    if (stdio->stream && !stdio->closing) {
        stdio->closing = true;
        stream_close(stdio->stream);
    }
}

static void remote_command_free_if_done(struct remote_command *self)
{
    if (self->transport || self->run)
        return;
    for (int i = 0; i < STDIO_COUNT; i++)
        if (self->stdio[i].stream)
            return;
    buf_release(&self->early);
    arena_free(self->arena);
    free(self);
}

static void close_all(struct remote_command *self)
{
    if (self->run)
        self->backend.run_close(TAKE(self->run));
    for (int i = 0; i < STDIO_COUNT; i++)
        remote_stdio_close(&self->stdio[i]);
    remote_command_free_if_done(self);
}

/* Returns whether the command writes to the stream. This includes IN if it is the terminal of a new
 * command, which is one stream for both directions. */
static bool remote_stdio_writes(const struct remote_command *self, int stdio)
{
    return stdio != IN || (self->command.terminal && self->command.arguments);
}

/* If the command has ended and all its output was passed to the transport, sends the Status and
 * finishes the session. */
static void remote_command_finish_if_done(struct remote_command *self)
{
    if (!self->over || !self->transport)
        return;
    for (int i = 0; i < STDIO_COUNT; i++) {
        const struct remote_stdio *stdio = &self->stdio[i];
        if (stdio->stream && remote_stdio_writes(self, i) && !stdio->ended && !stdio->closing)
            return;
    }
    _cleanup_buf_ struct buf text;
    buf_init(&text, REMOTE_STATUS_MAX);
    remote_status_write(&self->command, self->exit_code, self->err.code ? &self->err : NULL,
                        self->plain_errors, &text);
    const struct remote_transport *transport = TAKE(self->transport);
    if (text.size)
        transport->write(self->context, REMOTE_ERROR, text.data, text.size);
    transport->finish(self->context);
    close_all(self);
}

void remote_command_leave(struct remote_command *self)
{
    self->transport = NULL;
    close_all(self);
}

/* ---- The command's side ---------------------------------------------------------------------- */

static void on_remote_stdio_open(void *context)
{
    struct remote_stdio *stdio = context;
    struct remote_command *self = stdio->command;
    stdio->open = true;
    if (stdio != &self->stdio[IN])
        return;
    if (self->early.size)
        stream_write(stdio->stream, self->early.data, self->early.size);
    buf_clear(&self->early);
    if (self->input_ended)
        stream_shut(stdio->stream);
}

static void on_remote_stdio_data(void *context, const char *data, size_t size)
{
    struct remote_stdio *stdio = context;
    struct remote_command *self = stdio->command;
    if (!self->transport)
        return;
    self->transport->write(self->context, stdio->channel, data, size);
    if (self->transport->pending(self->context) > TO_PEER_HIGH)
        stream_pause(stdio->stream, true);
}

static void on_remote_stdio_sent(void *context)
{
    const struct remote_stdio *stdio = context;
    const struct remote_command *self = stdio->command;
    if (self->transport && stdio == &self->stdio[IN])
        self->transport->pause(self->context, false);
}

static void on_remote_stdio_end(void *context, const struct err *err)
{
    struct remote_stdio *stdio = context;
    stdio->ended = true;
    remote_stdio_close(stdio);
    if (stdio->command->transport && stdio == &stdio->command->stdio[IN])
        /* The command reads no more input. Resumes the client, whose input is dropped from now
         * on. */
        stdio->command->transport->pause(stdio->command->context, false);
    remote_command_finish_if_done(stdio->command);
}

static void on_remote_stdio_closed(void *context)
{
    struct remote_stdio *stdio = context;
    stdio->stream = NULL;
    remote_command_free_if_done(stdio->command);
}

static const struct stream_handler STDIO_HANDLER = {
    .on_open = on_remote_stdio_open,
    .on_data = on_remote_stdio_data,
    .on_sent = on_remote_stdio_sent,
    .on_end = on_remote_stdio_end,
    .on_closed = on_remote_stdio_closed,
};

static void on_started(void *context, const struct engine_pod_streams *lines)
{
    struct remote_command *self = context;
    struct stream *const streams[STDIO_COUNT] = {lines->in, lines->out, lines->err};
    self->started = true;
    for (int i = 0; i < STDIO_COUNT; i++) {
        struct remote_stdio *stdio = &self->stdio[i];
        stdio->stream = streams[i];
        if (stdio->stream)
            stream_start(stdio->stream, &STDIO_HANDLER, stdio);
    }
    if (self->columns)
        self->backend.run_resize(self->run, self->columns, self->rows);
    if (!lines->in) { /* the command does not read input */
        buf_clear(&self->early);
        self->transport->pause(self->context, false);
    }
}

static void on_ended(void *context, int exit_code, const char *message, const struct err *err)
{
    struct remote_command *self = context;
    self->run = NULL;
    self->over = true;
    self->exit_code = exit_code;
    if (err)
        self->err = *err;
    /* The reason why a command never ran is sent on the channel of its error output, or of its
     * output if the client requested no separate error output. */
    if (self->transport && !str_is_empty(message)) {
        enum remote_channel channel =
            self->command.err && !self->command.terminal ? REMOTE_STDERR : REMOTE_STDOUT;
        self->transport->write(self->context, channel, message, strlen(message));
        self->transport->write(self->context, channel, self->command.terminal ? "\r\n" : "\n",
                               self->command.terminal ? 2 : 1);
    }
    if (!remote_stdio_writes(self, IN))
        remote_stdio_close(&self->stdio[IN]);
    for (int i = OUT; i < STDIO_COUNT; i++)
        if (self->stdio[i].stream && !self->stdio[i].closing)
            self->backend.run_drain(self->stdio[i].stream);
    remote_command_finish_if_done(self);
}

static const struct engine_pod_command_handler COMMAND_HANDLER = {
    .started = on_started,
    .ended = on_ended,
};

/* ---- The client's side ----------------------------------------------------------------------- */

void remote_command_input(struct remote_command *self, const char *data, size_t size)
{
    struct remote_stdio *stdio = &self->stdio[IN];
    bool full = false;
    if (!self->command.in || self->input_ended)
        return;
    if (stdio->open && stdio->stream && !stdio->closing) {
        stream_write(stdio->stream, data, size);
        full = stream_pending(stdio->stream) > TO_POD_HIGH;
    } else if (!stdio->open && !self->over && (!self->started || stdio->stream)) {
        buf_append(&self->early, data, size);
        full = self->early.size > EARLY_HIGH;
    } /* otherwise the command reads no input, and the bytes are dropped */
    if (full)
        self->transport->pause(self->context, true);
}

void remote_command_input_end(struct remote_command *self)
{
    const struct remote_stdio *stdio = &self->stdio[IN];
    if (self->input_ended || !self->command.in)
        return;
    self->input_ended = true;
    if (stdio->open && stdio->stream && !stdio->closing)
        stream_shut(stdio->stream);
}

void remote_command_resize(struct remote_command *self, const char *text, size_t size)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *value;
    if (json_parse(arena, text, size, NULL, &value, NULL) < 0)
        return;
    int64_t columns = json_get_int(value, "Width", 0), rows = json_get_int(value, "Height", 0);
    if (columns <= 0 || rows <= 0 || columns > UINT16_MAX || rows > UINT16_MAX)
        return;
    self->columns = (int)columns;
    self->rows = (int)rows;
    if (self->started && self->run)
        self->backend.run_resize(self->run, self->columns, self->rows);
}

void remote_command_drained(struct remote_command *self)
{
    for (int i = 0; i < STDIO_COUNT; i++)
        if (self->stdio[i].stream && !self->stdio[i].closing)
            stream_pause(self->stdio[i].stream, false);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static const char *const *copy_words(struct arena *arena, const char *const *words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    if (!words)
        return NULL;
    const char **copy = arena_zalloc(arena, (count + 1) * sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_strdup(arena, words[i]);
    return copy;
}

struct remote_command *remote_command_new(struct engine *engine,
                                          const struct remote_request *request,
                                          const struct remote_transport *transport, void *context)
{
    static const enum remote_channel CHANNELS[STDIO_COUNT] = {REMOTE_STDOUT, REMOTE_STDOUT,
                                                              REMOTE_STDERR};
    struct remote_command *self = mem_zalloc(sizeof(*self));
    self->loop = engine_loop(engine);
    self->arena = arena_new();
    self->backend = *engine_backend(engine);
    self->pod = json_clone(self->arena, request->pod);
    self->command = request->command;
    self->command.container = arena_strdup(self->arena, request->command.container);
    self->command.arguments = copy_words(self->arena, request->command.arguments);
    self->plain_errors = request->plain_errors;
    self->transport = transport;
    self->context = context;
    /* Larger than EARLY_HIGH, because bytes that were read before the pause may still arrive. */
    buf_init(&self->early, EARLY_MAX);
    for (int i = 0; i < STDIO_COUNT; i++)
        self->stdio[i] = (struct remote_stdio){.command = self, .channel = CHANNELS[i]};
    return self;
}

void remote_command_start(struct remote_command *self)
{
    self->run =
        self->backend.run(self->backend.context, self->pod, &self->command, &COMMAND_HANDLER, self);
}

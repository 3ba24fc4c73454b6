/* A command of `kubectl exec` or `attach`: passes bytes between the caller's channels and the
 * standard streams of a process in a pod, sets the size of its terminal, and sends a Status about
 * its end. A slow side slows the other one down.
 *
 * The transport (remote_spdy.c, remote_websocket.c) creates the command, passes the caller's bytes
 * to it, and sends what the command writes. */
#ifndef TRAINYARD_ENGINE_STREAM_REMOTE_COMMAND_H
#define TRAINYARD_ENGINE_STREAM_REMOTE_COMMAND_H

#include "engine/engine.h"
#include "net/stream/stream.h"

struct remote_command;

/* The values are the channel numbers of the WebSocket protocol. */
enum remote_channel {
    REMOTE_STDIN,
    REMOTE_STDOUT,
    REMOTE_STDERR,
    REMOTE_ERROR,
    REMOTE_RESIZE,
    REMOTE_CHANNELS,
};

struct remote_transport {
    void (*write)(void *context, enum remote_channel channel, const void *data, size_t size);
    size_t (*pending)(void *context);          /* bytes that the caller has not read yet */
    void (*pause)(void *context, bool paused); /* pauses the caller's input */
    /* Everything was written: sends what is pending, and closes. The command is gone with this
     * call. */
    void (*finish)(void *context);
};

/* All of it is copied. */
struct remote_request {
    const struct json *pod;
    struct engine_pod_command command;
    bool plain_errors; /* errors as sentences, which the oldest clients read, instead of a Status */
};

/* Creates a command; remote_command_start() starts it. */
struct remote_command *remote_command_new(struct engine *engine,
                                          const struct remote_request *request,
                                          const struct remote_transport *transport, void *context);
const struct engine_pod_command *remote_command_asked(const struct remote_command *self);
void remote_command_start(struct remote_command *self);

/* The caller sends input, ends it, or sends the size of its terminal as JSON. */
void remote_command_input(struct remote_command *self, const char *data, size_t size);
void remote_command_input_end(struct remote_command *self);
void remote_command_resize(struct remote_command *self, const char *text, size_t size);
void remote_command_drained(struct remote_command *self); /* everything has been sent */
/* The caller is gone: ends the command and frees it. */
void remote_command_leave(struct remote_command *self);

#endif

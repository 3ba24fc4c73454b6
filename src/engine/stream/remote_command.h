/* A command of `kubectl exec`, or an attachment of `kubectl attach`. Forwards bytes between the
 * client's channels and the standard streams of a process in a pod, sets the size of the terminal,
 * and sends a Status when the process has ended. If one side reads slowly, reading from the other
 * side pauses.
 *
 * The transport (remote_spdy.c, remote_websocket.c) creates the command, passes the client's bytes
 * to it, and sends the command's output to the client. All functions must run on the loop thread.
 */
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

/* The functions of a transport. `context` is the argument of remote_command_new(). */
struct remote_transport {
    void (*write)(void *context, enum remote_channel channel, const void *data, size_t size);
    /* Returns the number of bytes that the client has not read. */
    size_t (*pending)(void *context);
    void (*pause)(void *context, bool paused); /* pauses or resumes reading from the client */
    /* Called after the last write. Sends the pending bytes and closes the connection. The transport
     * must not use the command after this call. */
    void (*finish)(void *context);
};

/* The input of remote_command_new(), which copies it. */
struct remote_request {
    const struct json *pod;
    struct engine_pod_command command;
    bool plain_errors; /* sends errors as plain text instead of a Status, for the oldest clients */
};

/* Creates a command that is not running yet. Copies the request. The command frees itself after
 * `finish` or after remote_command_leave(). */
struct remote_command *remote_command_new(struct engine *engine,
                                          const struct remote_request *request,
                                          const struct remote_transport *transport, void *context);
/* Starts the process, or attaches to the container. Called once. */
void remote_command_start(struct remote_command *self);

/* The transport calls these functions when the client sends input, ends its input, or sends the
 * size of its terminal as JSON. An invalid size is ignored. */
void remote_command_input(struct remote_command *self, const char *data, size_t size);
void remote_command_input_end(struct remote_command *self);
void remote_command_resize(struct remote_command *self, const char *text, size_t size);
/* Called when all bytes that the command wrote have been sent to the client. Resumes reading from
 * the process. */
void remote_command_drained(struct remote_command *self);
/* Called when the client is gone. Ends the process of an exec; an attached container continues to
 * run. The transport must not use the command after this call. */
void remote_command_leave(struct remote_command *self);

#endif

/* A session of `kubectl exec` or `attach`, whatever protocol carries it: bytes between the caller's
 * channels and the lines of a command in a pod, the size of its terminal, and at the end a Status
 * that says how it ended. A slow side slows the other one; nothing is kept but what is on its way.
 *
 * The protocol's side (a carrier: remote_spdy.c, remote_websocket.c) makes the session, feeds it,
 * and is told what to send. */
#ifndef TRAINYARD_ENGINE_REMOTE_COMMAND_H
#define TRAINYARD_ENGINE_REMOTE_COMMAND_H

#include "engine/engine.h"
#include "net/stream/stream.h"

struct remote_command;

/* Their numbers are those on the wire of WebSocket. */
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
    size_t (*pending)(void *context);          /* bytes that the caller has not taken */
    void (*pause)(void *context, bool paused); /* the caller's input */
    /* All is said: send what is pending, and close. The session is gone with this call. */
    void (*finish)(void *context);
};

/* What is asked for; all of it is copied. */
struct remote_request {
    const struct json *pod;
    struct engine_pod_command command;
    bool plain_errors; /* in sentences, as the oldest callers read them, not as a Status */
};

/* A session, and with remote_command_start() its command. */
struct remote_command *remote_command_new(struct engine *engine,
                                          const struct remote_request *request,
                                          const struct remote_transport *transport, void *context);
const struct engine_pod_command *remote_command_asked(const struct remote_command *self);
void remote_command_start(struct remote_command *self);

/* What the caller says: input, its end, the terminal's size as JSON. */
void remote_command_input(struct remote_command *self, const char *data, size_t size);
void remote_command_input_end(struct remote_command *self);
void remote_command_resize(struct remote_command *self, const char *text, size_t size);
void remote_command_drained(struct remote_command *self); /* nothing is pending any more */
/* The caller is gone: the command ends, and the session with it. */
void remote_command_leave(struct remote_command *self);

#endif

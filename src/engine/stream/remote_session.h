/* The two protocols that carry exec and attach: SPDY/3.1 with a stream a channel, as kubectl up to
 * 1.29 speaks it, and WebSocket with the channel's number before each message. Each takes the line,
 * starts the command when the caller's channels stand, and lives by itself until the command or the
 * caller ends, or the server does. */
#ifndef TRAINYARD_ENGINE_REMOTE_SESSION_H
#define TRAINYARD_ENGINE_REMOTE_SESSION_H

#include "engine/stream/remote_command.h"

void remote_spdy_new(struct engine *engine, struct stream *line,
                     const struct remote_request *request, bool resizes);

/* How a sub-protocol of WebSocket differs from the plain one. */
struct remote_websocket_form {
    bool half_closes; /* the caller can end a channel */
    bool base64;      /* messages are text: a digit for the channel, and the bytes in base64 */
};

void remote_websocket_new(struct engine *engine, struct stream *line,
                          const struct remote_request *request,
                          const struct remote_websocket_form *form);

#endif

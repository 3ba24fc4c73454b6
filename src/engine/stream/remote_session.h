/* Sessions of exec and attach over the two protocols that carry them: SPDY/3.1 with one stream per
 * channel, as kubectl up to 1.29 speaks it (remote_spdy.c), and WebSocket with the number of the
 * channel before each message (remote_websocket.c). A session takes the stream, starts the command
 * when the caller's channels are there, and lives until the command, the caller or the server
 * ends. */
#ifndef TRAINYARD_ENGINE_STREAM_REMOTE_SESSION_H
#define TRAINYARD_ENGINE_STREAM_REMOTE_SESSION_H

#include "base/buf.h"
#include "engine/api/open_calls.h"
#include "engine/stream/remote_command.h"

void remote_spdy_new(struct engine *engine, struct stream *stream,
                     const struct remote_request *request, bool resizes);

/* The variants of the WebSocket protocol. */
struct remote_websocket_variant {
    bool half_closes; /* the caller can close one channel */
    bool base64;      /* a message is text: the digit of the channel, and the bytes in base64 */
};

void remote_websocket_new(struct engine *engine, struct stream *stream,
                          const struct remote_request *request,
                          const struct remote_websocket_variant *variant);

/* ---- For remote_spdy.c and remote_websocket.c */

/* The first member of a protocol's own session. */
struct remote_session {
    struct remote_command *command; /* NULL: it is gone */
    struct open_call link;
    struct buf size; /* the part of the terminal's new size that has arrived, as JSON */
    bool detached;
    void (*close)(struct remote_session *session); /* the server ends */
};

void remote_session_init(struct remote_session *session, struct engine *engine,
                         const struct remote_request *request,
                         const struct remote_transport *transport,
                         void (*close)(struct remote_session *session));
/* Ends the command. Afterwards the engine may be freed; only the peer's connection is left. Safe to
 * call twice. */
void remote_session_detach(struct remote_session *session);
void remote_session_release(struct remote_session *session);

/* Everything that was written has been sent. */
void remote_session_drained(struct remote_session *session);
/* Passes session->size on to the command, and clears it. */
void remote_session_resize(struct remote_session *session);

#endif

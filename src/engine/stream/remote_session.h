/* Sessions of exec and attach over two protocols. remote_spdy.c implements SPDY/3.1 with one stream
 * per channel, which kubectl up to 1.29 uses. remote_websocket.c implements WebSocket messages that
 * start with a channel number. exec.c creates a session. The session takes ownership of the stream
 * and starts the command when the client has opened its channels. The session runs until the
 * command ends, the client disconnects, or the server stops, and then frees itself. */
#ifndef TRAINYARD_ENGINE_STREAM_REMOTE_SESSION_H
#define TRAINYARD_ENGINE_STREAM_REMOTE_SESSION_H

#include "base/buf.h"
#include "engine/api/open_calls.h"
#include "engine/stream/remote_command.h"

/* `resizes`: the client opens a channel for the size of its terminal if it requests a terminal. */
void remote_spdy_new(struct engine *engine, struct stream *stream,
                     const struct remote_request *request, bool resizes);

/* A variant of the WebSocket protocol. */
struct remote_websocket_variant {
    bool half_closes; /* the client can end its input while the session continues */
    bool base64;      /* messages are text: the channel as one digit, then the data in base64 */
};

void remote_websocket_new(struct engine *engine, struct stream *stream,
                          const struct remote_request *request,
                          const struct remote_websocket_variant *variant);

/* ---- For remote_spdy.c and remote_websocket.c */

/* The part of a session that both protocols share. It is the first member of a protocol's
 * session. */
struct remote_session {
    struct remote_command *command; /* NULL: the session does not use the command any more */
    struct open_call link;          /* in the list of open calls */
    struct buf size; /* the JSON text of a new terminal size, as far as it has arrived */
    bool detached;   /* remote_session_detach() was called */
    /* Closes the session; called when the server stops. */
    void (*close)(struct remote_session *session);
};

void remote_session_init(struct remote_session *session, struct engine *engine,
                         const struct remote_request *request,
                         const struct remote_transport *transport,
                         void (*close)(struct remote_session *session));
/* Leaves the command (remote_command_leave()). After this call the session does not use the engine
 * any more; only the connection to the client is left. Safe to call twice. */
void remote_session_detach(struct remote_session *session);
void remote_session_release(struct remote_session *session);

/* Called when all written bytes have been sent to the client. */
void remote_session_drained(struct remote_session *session);
/* Passes session->size to the command, unless the text was too long, and clears it.
 * session->command must not be NULL. */
void remote_session_resize(struct remote_session *session);

#endif

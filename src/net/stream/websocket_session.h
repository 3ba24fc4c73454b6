/* The server side of a WebSocket session on any stream: binary or text messages in both directions,
 * replies to pings, and the closing handshake. The owner interprets the messages.
 * websocket_stream.h joins the messages to a stream of bytes; other sub-protocols need the separate
 * messages.
 *
 * Back-pressure works as for a stream. An owner that cannot accept more data pauses the session. An
 * owner that writes much data must check websocket_session_pending() first and continue in
 * on_drain.
 *
 * All callbacks are called from the loop, never from within a function of this file. */
#ifndef TRAINYARD_NET_STREAM_WEBSOCKET_SESSION_H
#define TRAINYARD_NET_STREAM_WEBSOCKET_SESSION_H

#include "loop/loop.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct websocket_session;

struct websocket_session_handler {
    void (*on_open)(void *context); /* like on_open in struct stream_handler */
    /* A piece of a message; not called while paused. `size` is 0 only for an empty message and for
     * an empty last piece. */
    void (*on_data)(void *context, const char *data, size_t size, bool first, bool last);
    void (*on_drain)(void *context); /* all written bytes have been sent */
    /* The peer has closed the session or the connection (err is NULL), or an error has ended the
     * session. Not called after websocket_session_close() or websocket_session_abort(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the last callback; the session is freed already */
};

/* Maximum size of a received message. The limit is high because messages are delivered in pieces
 * and not stored. */
#define WEBSOCKET_MESSAGE_MAX ((uint64_t)1 << 30)

/* Takes ownership of the stream and starts it. */
struct websocket_session *websocket_session_new(struct loop *loop, struct stream *stream,
                                                const struct websocket_session_handler *handler,
                                                void *context);

/* Makes websocket_session_write() send its messages as text; the default is binary. Received
 * messages may have either type, as in Kubernetes, because its Python client sends input as text.
 * The owner must check that text is UTF-8 if the sub-protocol requires it. */
void websocket_session_use_text(struct websocket_session *session);

/* Sends one message. Does nothing if the session has ended. */
void websocket_session_write(struct websocket_session *session, const void *data, size_t size);
/* Sends one binary message, even after websocket_session_use_text(): the number of a channel as one
 * byte, then the data. All binary sub-protocols of Kubernetes with channels have this form. */
void websocket_session_write_channel(struct websocket_session *session, int channel,
                                     const void *data, size_t size);
/* Returns the number of written bytes that are not sent yet, or 0 if the session has ended. */
size_t websocket_session_pending(const struct websocket_session *session);
/* Back-pressure: while the session is paused, on_data is not called. */
void websocket_session_pause(struct websocket_session *session, bool paused);
/* See stream_set_stall_timeout(). */
void websocket_session_set_stall_timeout(struct websocket_session *session,
                                         int64_t stall_timeout_ms);

/* Starts to close the session gracefully and returns at once. The session sends the pending bytes
 * and a CLOSE frame with the code and the reason. It closes the stream after the peer has closed
 * its side or a time limit has passed. After this call only on_closed is called. May be called
 * twice. */
void websocket_session_close(struct websocket_session *session, int code, const char *reason);
/* Closes at once without a CLOSE frame. May be called after websocket_session_close(). */
void websocket_session_abort(struct websocket_session *session);

#endif

/* The server's side of a WebSocket session on any stream: binary or text messages in both
 * directions, answers to pings, and the closing handshake. The owner decides what the messages
 * mean. One sub-protocol uses only their bytes (websocket_stream.h); others need the bounds of the
 * messages.
 *
 * Back-pressure is that of the stream: an owner that cannot take more pauses the session; an owner
 * that writes much checks websocket_session_pending() first and continues in on_drain.
 *
 * The session calls back from the loop only, never from within a function called on it. */
#ifndef TRAINYARD_NET_STREAM_WEBSOCKET_SESSION_H
#define TRAINYARD_NET_STREAM_WEBSOCKET_SESSION_H

#include "loop/loop.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct websocket_session;

struct websocket_session_handler {
    void (*on_open)(void *context); /* the first callback */
    /* A piece of a message; not called while paused. `size` is 0 only for an empty message and for
     * an empty last piece. */
    void (*on_data)(void *context, const char *data, size_t size, bool first, bool last);
    void (*on_drain)(void *context); /* no written byte is pending any more */
    /* The peer closed the session (err is NULL), broke the protocol, or is gone. Not called after
     * websocket_session_close(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the session is freed; the last callback */
};

/* Messages are reported in pieces and never kept here, so this limit only stops absurd sizes. */
#define WEBSOCKET_MESSAGE_MAX ((uint64_t)1 << 30)

/* Takes the stream and starts it. */
struct websocket_session *websocket_session_new(struct loop *loop, struct stream *line,
                                                const struct websocket_session_handler *handler,
                                                void *context);

/* Sends messages as text from now on; the default is binary. Received messages may be of either
 * type, as in Kubernetes: its Python client sends input as text. The owner checks that text is
 * UTF-8 if its sub-protocol requires it. */
void websocket_session_write_text(struct websocket_session *session);

/* Sends one message. */
void websocket_session_write(struct websocket_session *session, const void *data, size_t size);
/* Sends one message: the number of a channel as one byte, then the data. All binary sub-protocols
 * of Kubernetes with channels have this form. */
void websocket_session_write_channel(struct websocket_session *session, int channel,
                                     const void *data, size_t size);
/* Written bytes that the peer has not taken yet. */
size_t websocket_session_pending(const struct websocket_session *session);
void websocket_session_pause(struct websocket_session *session, bool paused);
/* See stream_set_stall_timeout(). */
void websocket_session_set_stall_timeout(struct websocket_session *session,
                                         int64_t stall_timeout_ms);

/* Closes in order: sends a CLOSE frame with the code and the reason, sends the pending bytes, and
 * closes when the peer has closed its side too or a time limit passes. Only on_closed is called any
 * more. Calling it twice is allowed. */
void websocket_session_close(struct websocket_session *session, int code, const char *reason);
/* Closes at once without a CLOSE frame. May be called after websocket_session_close(). */
void websocket_session_abort(struct websocket_session *session);

#endif

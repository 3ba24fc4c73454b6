/* The server's side of a WebSocket session on any stream: messages both ways, binary or text, pings
 * answered, and an end that each side tells the other. What the messages mean is the owner's
 * affair; one of the sub-protocols here needs its bytes only (websocket_stream.h), others the
 * message's bounds.
 *
 * Back-pressure is the line's: an owner that cannot take more pauses it; one that has more to say
 * looks at websocket_session_pending() first and goes on with on_drain.
 *
 * It calls back from the loop only, never from within a function called on it.
 */
#ifndef TRAINYARD_NET_WEBSOCKET_SESSION_H
#define TRAINYARD_NET_WEBSOCKET_SESSION_H

#include "loop/loop.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct websocket_session;

struct websocket_session_handler {
    void (*on_open)(void *context); /* first of all */
    /* A piece of a message; not while paused. `size` is 0 only of an empty message and of
     * an empty last piece. */
    void (*on_data)(void *context, const char *data, size_t size, bool first, bool last);
    void (*on_drain)(void *context); /* nothing is pending any more */
    /* The peer ended the session (err is NULL), broke the protocol, or is gone. Not after
     * websocket_session_close(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* it is gone, all memory with it; last of all */
};

/* A message is reported in pieces and kept by nobody here: the limit is against nonsense. */
#define WEBSOCKET_MESSAGE_MAX ((uint64_t)1 << 30)

/* Takes the line and starts it. */
struct websocket_session *websocket_session_new(struct loop *loop, struct stream *line,
                                                const struct websocket_session_handler *handler,
                                                void *context);

/* Sends messages as text from now on; binary is the default. Messages that arrive may be of either
 * type, as in Kubernetes: its client for Python sends input as text. The owner checks UTF-8 where
 * its sub-protocol asks for it. */
void websocket_session_write_text(struct websocket_session *session);

/* One message. */
void websocket_session_write(struct websocket_session *session, const void *data, size_t size);
/* One message: the number of a channel in a byte, and the data. So are messages built in all binary
 * sub-protocols of Kubernetes with channels. */
void websocket_session_write_channel(struct websocket_session *session, int channel,
                                     const void *data, size_t size);
/* Bytes written and not yet taken by the peer. */
size_t websocket_session_pending(const struct websocket_session *session);
void websocket_session_pause(struct websocket_session *session, bool paused);
/* See stream_set_stall_timeout(). */
void websocket_session_set_stall_timeout(struct websocket_session *session,
                                         int64_t stall_timeout_ms);

/* The end in order: say why, send what is pending, and close once the peer has ended its side, too,
 * or lets us wait. Of the handler only on_closed is called any more. Twice is fine. */
void websocket_session_close(struct websocket_session *session, int code, const char *reason);
/* The end at once, without a word; also after the above. */
void websocket_session_abort(struct websocket_session *session);

#endif

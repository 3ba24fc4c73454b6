/* The common part of SPDY and WebSocket sessions on a stream: writing, back-pressure, and the end
 * of the session, which is reported to the owner once. Included by spdy_session.c and
 * websocket_session.c only. Owners of a session use spdy_session.h or websocket_session.h.
 *
 * All callbacks are called from the loop. stream_session_end() calls two of them at once, so a
 * protocol may call it only from the loop, for example in `received`. */
#ifndef TRAINYARD_NET_STREAM_STREAM_SESSION_H
#define TRAINYARD_NET_STREAM_STREAM_SESSION_H

#include "net/stream/stream.h"

struct stream_session;

/* The functions that the protocol provides. */
struct stream_session_ops {
    void (*opened)(struct stream_session *session); /* NULL: nothing to do */
    void (*received)(struct stream_session *session, const char *data, size_t size);
    /* The peer or an error has ended the session. Called before the owner's on_end. */
    void (*ended)(struct stream_session *session);
    void (*free)(struct stream_session *session); /* frees the session after its stream is closed */
};

/* The callbacks of the session's owner. */
struct stream_session_handler {
    void (*on_drain)(void *context); /* all written bytes have been sent */
    /* The peer has ended the session (err is NULL), or an error has ended it. Not called after
     * stream_session_close() or stream_session_abort(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the last callback; the session is freed already */
};

struct stream_session {
    struct stream *stream;
    const struct stream_session_ops *ops;
    struct stream_session_handler handler;
    void *context; /* argument of the handler's callbacks */
    bool is_over;  /* the session has ended; only pending bytes are still sent */
};

/* Takes ownership of the stream and starts it. Copies `handler`. */
void stream_session_start(struct stream_session *session, struct stream *stream,
                          const struct stream_session_ops *ops,
                          const struct stream_session_handler *handler, void *context);

/* Writes bytes to the stream. Does nothing if the session has ended. */
void stream_session_write(struct stream_session *session, const void *data, size_t size);

/* Returns the number of written bytes that are not sent yet, or 0 if the session has ended. */
size_t stream_session_pending(const struct stream_session *session);

/* Returns whether a ping may be answered. It may not if too many bytes are unsent, so that a peer
 * that sends many pings and reads no replies cannot fill the memory. */
bool stream_session_may_pong(const struct stream_session *session);

/* Starts to close the session for its owner and returns at once. The pending bytes are still sent.
 * Does nothing if the session has ended. */
void stream_session_close(struct stream_session *session);

/* Closes the session for its owner at once and drops the pending bytes. May be called after
 * stream_session_close(). */
void stream_session_abort(struct stream_session *session);

/* Ends the session because of the peer or an error. Calls `ended` of the protocol, then on_end of
 * the owner. Does nothing if the session has ended. */
void stream_session_end(struct stream_session *session, const struct err *err);

#endif

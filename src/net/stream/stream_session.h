/* The common part of a session that speaks a protocol of frames on a stream (spdy_session.c,
 * websocket_session.c): writing, back-pressure, and the end of the session, which its owner hears
 * of once. Included by the sessions only; their owners see spdy_session.h and websocket_session.h.
 *
 * A session calls back from the loop only, never from within a function called on it.
 */
#ifndef TRAINYARD_NET_STREAM_STREAM_SESSION_H
#define TRAINYARD_NET_STREAM_STREAM_SESSION_H

#include "net/stream/stream.h"

struct stream_session;

/* What the protocol does. */
struct stream_session_ops {
    void (*opened)(struct stream_session *session); /* NULL: nothing to do */
    void (*received)(struct stream_session *session, const char *data, size_t size);
    /* The peer or a fault ended the session; called before the owner's on_end. */
    void (*ended)(struct stream_session *session);
    void (*free)(struct stream_session *session); /* the stream is closed; free the session */
};

/* What the owner of any session hears. */
struct stream_session_handler {
    void (*on_drain)(void *context); /* nothing is pending any more */
    /* The session is over, by the peer (err is NULL) or by a fault. Not called after
     * stream_session_close() or stream_session_abort(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the session is freed; the last call */
};

struct stream_session {
    struct stream *stream;
    const struct stream_session_ops *ops;
    struct stream_session_handler handler;
    void *context; /* of the handler */
    bool is_over;  /* nothing more is read or written; the stream sends what is pending */
};

/* Takes the stream and starts it. */
void stream_session_start(struct stream_session *session, struct stream *stream,
                          const struct stream_session_ops *ops,
                          const struct stream_session_handler *handler, void *context);

/* Does nothing when the session is over. */
void stream_session_write(struct stream_session *session, const void *data, size_t size);

/* Bytes written that the peer has not taken yet; 0 when the session is over. */
size_t stream_session_pending(const struct stream_session *session);

/* Whether a ping may be answered: not when the peer leaves so much unread that answers to a flood
 * of pings would fill the memory. */
bool stream_session_may_pong(const struct stream_session *session);

/* The owner closes the session: what is pending is still sent. Does nothing when it is over. */
void stream_session_close(struct stream_session *session);

/* The owner closes the session at once; what is pending is dropped. Also after
 * stream_session_close(). */
void stream_session_abort(struct stream_session *session);

/* The peer or a fault ends the session: tells the protocol, then the owner. Does nothing when the
 * session is over. */
void stream_session_end(struct stream_session *session, const struct err *err);

#endif

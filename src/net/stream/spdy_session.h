/* The server's side of a SPDY/3.1 session on any stream: the peer opens streams, both sides write
 * on them and end them, each side by itself. What a stream is for is its owner's affair.
 *
 * SPDY's flow control is not used by the peers at hand, so back-pressure is that of the whole line:
 * an owner that cannot take more pauses its stream, and while one is paused nothing of the session
 * is read; an owner that has more to say looks at spdy_session_pending() first and goes on with
 * on_drain.
 *
 * It calls back from the loop only, never from within a function called on it.
 */
#ifndef TRAINYARD_NET_SPDY_SESSION_H
#define TRAINYARD_NET_SPDY_SESSION_H

#include "net/http_header.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spdy_session;
struct spdy_stream;

/* What a stream's owner hears. In each of them it may end, free or reset any stream. */
struct spdy_stream_handler {
    void (*on_data)(void *context, const char *data, size_t size);
    void (*on_end)(void *context); /* the peer says no more on it */
    /* The peer reset it, or the session is over: nothing said on it is heard any more. The owner
     * still frees it. */
    void (*on_reset)(void *context);
};

struct spdy_session_handler {
    /* The peer opened a stream: take it with spdy_stream_accept(), else it is refused. */
    void (*on_stream)(void *context, struct spdy_stream *stream, const struct http_header *headers);
    void (*on_drain)(void *context); /* nothing is pending any more */
    /* The session is over, by the peer or by a fault (err); streams that were not freed have been
     * told. Not after spdy_session_close(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* it is gone, all memory with it; last of all */
};

enum { SPDY_STREAMS_MAX = 1000 };

/* Takes the stream and starts it. */
struct spdy_session *spdy_session_new(struct stream *stream,
                                      const struct spdy_session_handler *handler, void *context);

/* Say goodbye, send what is pending, and close. Streams that are not freed meanwhile are told as
 * reset before on_closed. */
void spdy_session_close(struct spdy_session *session);

/* Bytes written and not yet taken by the peer. */
size_t spdy_session_pending(const struct spdy_session *session);

/* Within on_stream: this is the owner's now, and the peer is told so. */
void spdy_stream_accept(struct spdy_stream *stream, const struct spdy_stream_handler *handler,
                        void *context);
uint32_t spdy_stream_id(const struct spdy_stream *stream);

void spdy_stream_write(struct spdy_stream *stream, const void *data, size_t size);
/* We say no more on it; what the peer says is still heard. Twice is fine. */
void spdy_stream_end(struct spdy_stream *stream);
void spdy_stream_pause(struct spdy_stream *stream, bool paused);
/* The owner is through with it. Unless both sides had ended, the peer is told that it is reset.
 * NULL-safe. */
struct spdy_stream *spdy_stream_free(struct spdy_stream *stream);

#endif

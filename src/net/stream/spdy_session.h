/* The server's side of a SPDY/3.1 session on any stream. The peer opens SPDY streams; both sides
 * write to them, and each side ends its direction by itself. The owner of the session decides what
 * the streams mean.
 *
 * The clients do not use SPDY's flow control, so back-pressure applies to the whole session: while
 * one stream is paused, nothing of the session is read. An owner that writes much checks
 * spdy_session_pending() first and continues in on_drain.
 *
 * The session calls back from the loop only, never from within a function called on it. */
#ifndef TRAINYARD_NET_STREAM_SPDY_SESSION_H
#define TRAINYARD_NET_STREAM_SPDY_SESSION_H

#include "net/http_header.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spdy_session;
struct spdy_stream;

/* The callbacks of a stream's owner. In each of them the owner may end, free or reset any stream.
 */
struct spdy_stream_handler {
    void (*on_data)(void *context, const char *data, size_t size);
    void (*on_end)(void *context); /* the peer ended its side of the stream */
    /* The peer reset the stream, or the session is over: bytes that are written to it are dropped.
     * The owner still frees it. */
    void (*on_reset)(void *context);
};

struct spdy_session_handler {
    /* The peer opened a stream. The owner takes it with spdy_stream_accept(); otherwise it is
     * refused. */
    void (*on_stream)(void *context, struct spdy_stream *stream, const struct http_header *headers);
    void (*on_drain)(void *context); /* no written byte is pending any more */
    /* The session is over, by the peer or by a fault (err). All streams that were not freed have
     * had their on_reset. Not called after spdy_session_close(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the session is freed; the last callback */
};

enum { SPDY_STREAMS_MAX = 1000 };

/* Takes the stream and starts it. */
struct spdy_session *spdy_session_new(struct stream *stream,
                                      const struct spdy_session_handler *handler, void *context);

/* Sends GOAWAY and the pending bytes, then closes. Streams that are not freed by then get on_reset
 * before on_closed. */
void spdy_session_close(struct spdy_session *session);

/* Written bytes that the peer has not taken yet. */
size_t spdy_session_pending(const struct spdy_session *session);

/* Accepts a stream, within on_stream only: the caller owns it from now on. */
void spdy_stream_accept(struct spdy_stream *stream, const struct spdy_stream_handler *handler,
                        void *context);
uint32_t spdy_stream_id(const struct spdy_stream *stream);

void spdy_stream_write(struct spdy_stream *stream, const void *data, size_t size);
/* Ends our side of the stream; the peer's data is still delivered. Calling it twice is allowed. */
void spdy_stream_end(struct spdy_stream *stream);
void spdy_stream_pause(struct spdy_stream *stream, bool paused);
/* Frees the stream. Unless both sides had ended, the peer is sent a reset. NULL-safe; returns NULL.
 */
struct spdy_stream *spdy_stream_free(struct spdy_stream *stream);

#endif

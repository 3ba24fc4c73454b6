/* The server side of a SPDY/3.1 session on any stream. The peer opens SPDY streams. Both sides
 * write to these streams, and each side ends its own direction. The owner of the session decides
 * what the streams are used for.
 *
 * The clients do not use SPDY's flow control, so back-pressure applies to the whole session: while
 * one stream is paused, the session reads nothing. An owner that writes much data must check
 * spdy_session_pending() first and continue in on_drain.
 *
 * All callbacks are called from the loop, never from within a function of this file. */
#ifndef TRAINYARD_NET_STREAM_SPDY_SESSION_H
#define TRAINYARD_NET_STREAM_SPDY_SESSION_H

#include "net/http_header.h"
#include "net/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spdy_session;
struct spdy_stream;

/* The callbacks of a stream's owner. Each callback may end or free any stream. */
struct spdy_stream_handler {
    void (*on_data)(void *context, const char *data, size_t size);
    void (*on_end)(void *context); /* the peer ended its side of the stream */
    /* The peer has reset the stream, or the session has ended. Bytes that are written to the stream
     * are dropped. The owner must still free the stream. */
    void (*on_reset)(void *context);
};

struct spdy_session_handler {
    /* The peer has opened a stream. If the owner does not call spdy_stream_accept(), the stream is
     * refused. */
    void (*on_stream)(void *context, struct spdy_stream *stream, const struct http_header *headers);
    void (*on_drain)(void *context); /* all written bytes have been sent */
    /* The peer has ended the session (err is NULL), or an error has ended it. Called after on_reset
     * of all streams that are not freed. Not called after spdy_session_close(). */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the last callback; the session is freed already */
};

enum { SPDY_STREAMS_MAX = 1000 };

/* Takes ownership of the stream and starts it. */
struct spdy_session *spdy_session_new(struct stream *stream,
                                      const struct spdy_session_handler *handler, void *context);

/* Starts to close the session and returns at once. GOAWAY and the pending bytes are still sent. For
 * streams that the owner has not freed until the session is closed, on_reset is called before
 * on_closed. */
void spdy_session_close(struct spdy_session *session);

/* Returns the number of written bytes that are not sent yet, or 0 if the session has ended. */
size_t spdy_session_pending(const struct spdy_session *session);

/* Accepts a stream. May be called only within on_stream. The caller then owns the stream. */
void spdy_stream_accept(struct spdy_stream *stream, const struct spdy_stream_handler *handler,
                        void *context);
uint32_t spdy_stream_id(const struct spdy_stream *stream);

/* Writes data. Does nothing if our side of the stream or the session has ended. */
void spdy_stream_write(struct spdy_stream *stream, const void *data, size_t size);
/* Ends our side of the stream. Data of the peer is still delivered. May be called twice. */
void spdy_stream_end(struct spdy_stream *stream);
/* Back-pressure: while any stream is paused, the whole session reads nothing. */
void spdy_stream_pause(struct spdy_stream *stream, bool paused);
/* Frees the stream. Sends a reset to the peer if the stream has not ended on both sides. NULL-safe;
 * returns NULL. */
struct spdy_stream *spdy_stream_free(struct spdy_stream *stream);

#endif

/* The interface of a connected stream of bytes. Implementations: a socket with or without TLS
 * (socket_stream.c), a pipe or terminal (pipe_stream.c), the messages of a WebSocket session
 * (websocket_stream.c), an upgraded HTTP connection (net/http/upgrade.c), and memory in tests and
 * fuzzers. A protocol such as HTTP works on any of them. After a protocol upgrade, another protocol
 * uses the same stream.
 *
 * All callbacks are called from the loop, never from within a function of the stream. */
#ifndef TRAINYARD_NET_STREAM_STREAM_H
#define TRAINYARD_NET_STREAM_STREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

/* The callbacks of the stream's owner. */
struct stream_handler {
    /* The handshake, if there is one, is done. Called before on_data and on_sent. Not called if the
     * stream fails or ends during the handshake. */
    void (*on_open)(void *context);
    void (*on_data)(void *context, const char *data, size_t size); /* not called while paused */
    void (*on_sent)(void *context); /* all written bytes have been sent */
    /* No more data follows. If err is NULL, the peer closed its side, but writing may still work.
     * Otherwise the stream has failed and closes itself. Called at most once with NULL and at most
     * once with an error. No call follows the error. */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the stream is freed after this last callback */
};

struct stream_ops {
    void (*start)(struct stream *stream);
    void (*write)(struct stream *stream, const void *data, size_t size);
    size_t (*pending)(const struct stream *stream);
    void (*pause)(struct stream *stream, bool paused);
    /* NULL if the stream has no time limit. */
    void (*set_stall_timeout)(struct stream *stream, int64_t stall_timeout_ms);
    void (*shut)(struct stream *stream);
    void (*finish)(struct stream *stream);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_ops *ops;
    const struct stream_handler *handler;
    void *context;
};

/* Starts the stream. Must be called once. `handler` and `context` must be valid until on_closed is
 * called. */
static inline void stream_start(struct stream *stream, const struct stream_handler *handler,
                                void *context)
{
    stream->handler = handler;
    stream->context = context;
    stream->ops->start(stream);
}

/* Copies the bytes and sends them as soon as possible. Never blocks. */
static inline void stream_write(struct stream *stream, const void *data, size_t size)
{
    stream->ops->write(stream, data, size);
}

/* Returns the number of written bytes that are not sent yet. */
static inline size_t stream_pending(const struct stream *stream)
{
    return stream->ops->pending(stream);
}

/* Back-pressure: while the stream is paused, no data is delivered. A socket still reports the end
 * of the connection (but see socket_stream_keep_all()); a pipe reports it only after the pause. */
static inline void stream_pause(struct stream *stream, bool paused)
{
    stream->ops->pause(stream, paused);
}

/* Sets the stall timeout: if no pending byte can be sent for this time, the stream fails. Does
 * nothing if the stream has no time limit. */
static inline void stream_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    if (stream->ops->set_stall_timeout)
        stream->ops->set_stall_timeout(stream, stall_timeout_ms);
}

/* Closes the write side after all pending bytes are sent. The peer then sees the end of the stream.
 * Reading continues. The owner must not write after this. */
static inline void stream_shut(struct stream *stream)
{
    stream->ops->shut(stream);
}

/* Starts to close the stream gracefully and returns at once. The stream sends the pending bytes and
 * closes its write side. A socket is closed when the peer has closed its side or a time limit has
 * passed, a pipe as soon as the bytes are written. After this call only on_closed is called. */
static inline void stream_finish(struct stream *stream)
{
    stream->ops->finish(stream);
}

/* Closes the stream at once and drops pending bytes that cannot be sent immediately. on_closed is
 * called from the loop, after this function has returned. May be called after stream_finish(). */
static inline void stream_close(struct stream *stream)
{
    stream->ops->close(stream);
}

#endif

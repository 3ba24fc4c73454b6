/* A connected stream of bytes, as an interface: a socket on the loop with or without TLS
 * (socket_stream.c), a pipe (pipe_stream.c), or memory in tests and fuzzers. A protocol such as
 * HTTP uses it without knowing which one it has; after a protocol upgrade another protocol takes
 * over the same stream.
 *
 * A stream calls back from the loop only, never from within a function called on it. */
#ifndef TRAINYARD_NET_STREAM_STREAM_H
#define TRAINYARD_NET_STREAM_STREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

/* The callbacks of the stream's owner. */
struct stream_handler {
    void (*on_open)(void *context); /* the handshake is done; the first callback */
    void (*on_data)(void *context, const char *data, size_t size); /* not called while paused */
    void (*on_sent)(void *context); /* all written bytes have been sent */
    /* No more data follows: the peer closed its side (err is NULL; writing may still work), or the
     * connection is broken. Called at most once with NULL, and then at most once with an error. */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the stream is freed; the last callback */
};

struct stream_ops {
    void (*start)(struct stream *stream);
    void (*write)(struct stream *stream, const void *data, size_t size);
    size_t (*pending)(const struct stream *stream);
    void (*pause)(struct stream *stream, bool paused);
    /* NULL: the stream has no time limit. */
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

static inline void stream_start(struct stream *stream, const struct stream_handler *handler,
                                void *context)
{
    stream->handler = handler;
    stream->context = context;
    stream->ops->start(stream);
}

/* Copies the bytes and sends them as the peer takes them. */
static inline void stream_write(struct stream *stream, const void *data, size_t size)
{
    stream->ops->write(stream, data, size);
}

/* Written bytes that the system has not taken yet. */
static inline size_t stream_pending(const struct stream *stream)
{
    return stream->ops->pending(stream);
}

/* Back-pressure: while paused nothing is read, but the end of the connection is still noticed. */
static inline void stream_pause(struct stream *stream, bool paused)
{
    stream->ops->pause(stream, paused);
}

/* Sets how long a peer may take no byte of the pending ones before the stream fails. */
static inline void stream_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    if (stream->ops->set_stall_timeout)
        stream->ops->set_stall_timeout(stream, stall_timeout_ms);
}

/* Closes the write side: the peer sees the end of the stream after all pending bytes are sent.
 * Reading continues. Nothing may be written any more. */
static inline void stream_shut(struct stream *stream)
{
    stream->ops->shut(stream);
}

/* Closes in order: sends the pending bytes, shuts the connection down, and lets the peer read
 * everything before the socket is closed. Only on_closed is called any more. */
static inline void stream_finish(struct stream *stream)
{
    stream->ops->finish(stream);
}

/* Closes at once; on_closed follows in a later turn of the loop. May be called after
 * stream_finish(). */
static inline void stream_close(struct stream *stream)
{
    stream->ops->close(stream);
}

#endif

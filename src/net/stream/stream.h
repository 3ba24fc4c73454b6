/* A connected line of bytes, as an interface: a socket on the loop with or without TLS
 * (socket_stream.c), or memory in tests and fuzzers. A protocol such as HTTP stands on it and
 * cannot tell which it has; after a protocol upgrade another one can take over the same stream.
 *
 * A stream calls back from the loop only, never from within a function called on it.
 */
#ifndef TRAINYARD_NET_STREAM_H
#define TRAINYARD_NET_STREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

/* What the owner hears. */
struct stream_handler {
    void (*on_open)(void *context); /* the handshake is done; first of all */
    void (*on_data)(void *context, const char *data, size_t size); /* not while paused */
    void (*on_sent)(void *context); /* nothing written is pending any more */
    /* Nothing more will come: the peer ended its side (err is NULL; writing may still work) or the
     * line is broken. At most once with NULL and then at most once with an error. */
    void (*on_end)(void *context, const struct err *err);
    void (*on_closed)(void *context); /* the stream is gone; last of all */
};

struct stream_ops {
    void (*start)(struct stream *stream);
    void (*write)(struct stream *stream, const void *data, size_t size);
    size_t (*pending)(const struct stream *stream);
    void (*pause)(struct stream *stream, bool paused);
    void (*set_stall_timeout)(struct stream *stream,
                              int64_t stall_timeout_ms); /* or NULL: no clock */
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

/* Copied, and sent as the peer takes it. */
static inline void stream_write(struct stream *stream, const void *data, size_t size)
{
    stream->ops->write(stream, data, size);
}

/* Bytes written that the system has not taken yet. */
static inline size_t stream_pending(const struct stream *stream)
{
    return stream->ops->pending(stream);
}

/* Back-pressure: while paused nothing is read, but a peer that leaves is noticed. */
static inline void stream_pause(struct stream *stream, bool paused)
{
    stream->ops->pause(stream, paused);
}

/* How long a peer may take nothing of what is pending before it is given up. */
static inline void stream_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    if (stream->ops->set_stall_timeout)
        stream->ops->set_stall_timeout(stream, stall_timeout_ms);
}

/* Half of the end: once what is pending is sent the peer is told that no more comes, while what it
 * says is still heard. Nothing may be written any more. */
static inline void stream_shut(struct stream *stream)
{
    stream->ops->shut(stream);
}

/* The end in order: send what is pending, say goodbye, and let the peer read it all before the line
 * goes down. Of the handler only on_closed is called any more. */
static inline void stream_finish(struct stream *stream)
{
    stream->ops->finish(stream);
}

/* The end at once; on_closed comes in a later turn. Also after stream_finish(). */
static inline void stream_close(struct stream *stream)
{
    stream->ops->close(stream);
}

#endif

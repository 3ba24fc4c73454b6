/* A stream in memory; see memory_stream.h. */
#include "memory_stream.h"

#include "base/mem.h"

#include <stdlib.h>

static struct memory_stream *self_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct memory_stream, stream);
}

static void schedule(struct memory_stream *self)
{
    loop_defer(self->loop, &self->task);
}

static size_t pending(const struct stream *stream)
{
    const struct memory_stream *self = self_of(stream);
    return self->out.size - self->taken;
}

static void on_closed(struct loop_task *task)
{
    struct memory_stream *self = CONTAINER_OF(task, struct memory_stream, task);
    self->stream.handler->on_closed(self->stream.context);
    *self->ret_closed = true;
    buf_release(&self->in);
    buf_release(&self->out);
    free(self);
}

static void close_stream(struct stream *stream)
{
    struct memory_stream *self = self_of(stream);
    self->task.callback = on_closed;
    schedule(self);
}

static bool is_open(const struct memory_stream *self)
{
    return self->task.callback != on_closed;
}

static void give(struct memory_stream *self)
{
    while (self->in.size && !self->paused && is_open(self) && !self->end_told) {
        size_t size = self->piece && self->piece < self->in.size ? self->piece : self->in.size;
        /* A copy of the exact size, so that a sanitizer sees a read past the end. */
        char *copy = mem_alloc(size);
        for (size_t i = 0; i < size; i++)
            copy[i] = self->in.data[i];
        buf_consume(&self->in, size);
        if (!self->finishing)
            self->stream.handler->on_data(self->stream.context, copy, size);
        free(copy);
    }
}

static void on_task(struct loop_task *task)
{
    struct memory_stream *self = CONTAINER_OF(task, struct memory_stream, task);
    struct stream *stream = &self->stream; /* its handler may change with each call */
    if (!self->opened) {
        self->opened = true;
        stream->handler->on_open(stream->context);
    }
    give(self);
    if (!self->holds)
        self->taken = self->out.size;
    if (is_open(self) && !self->finishing && !self->sent_told && !pending(&self->stream)) {
        self->sent_told = true;
        stream->handler->on_sent(stream->context);
    }
    if (is_open(self) && !self->finishing && self->end_sent && !self->end_told &&
        (!self->in.size || self->paused)) {
        self->end_told = true;
        stream->handler->on_end(stream->context, NULL);
    }
    if (is_open(self) && self->broken && !self->finishing) {
        struct err err;
        err_set(&err, ERR_UNAVAILABLE, "peer left");
        stream->handler->on_end(stream->context, &err);
    }
    if (is_open(self) && self->finishing && (self->broken || !pending(&self->stream)))
        close_stream(&self->stream);
}

static void start(struct stream *stream)
{
    schedule(self_of(stream));
}

static void write_bytes(struct stream *stream, const void *data, size_t size)
{
    struct memory_stream *self = self_of(stream);
    buf_append(&self->out, data, size);
    self->sent_told = false;
    schedule(self);
}

static void pause_reading(struct stream *stream, bool paused)
{
    struct memory_stream *self = self_of(stream);
    if (self->paused == paused)
        return;
    self->paused = paused;
    schedule(self);
}

static void shut(struct stream *stream)
{
    self_of(stream)->shut = true;
}

static void finish(struct stream *stream)
{
    struct memory_stream *self = self_of(stream);
    self->finishing = true;
    schedule(self);
}

static const struct stream_ops OPS = {
    .start = start,
    .write = write_bytes,
    .pending = pending,
    .pause = pause_reading,
    .shut = shut,
    .finish = finish,
    .close = close_stream,
};

struct memory_stream *memory_stream_new(struct loop *loop, bool *ret_closed)
{
    struct memory_stream *self = mem_zalloc(sizeof(*self));
    self->stream.ops = &OPS;
    self->loop = loop;
    self->task.callback = on_task;
    self->sent_told = true;
    self->ret_closed = ret_closed;
    *ret_closed = false;
    buf_init(&self->in, 1 << 28);
    buf_init(&self->out, 1 << 28);
    return self;
}

void memory_stream_send(struct memory_stream *self, const void *data, size_t size)
{
    buf_append(&self->in, data, size);
    schedule(self);
}

void memory_stream_hold(struct memory_stream *self, bool holds)
{
    self->holds = holds;
    schedule(self);
}

void memory_stream_send_end(struct memory_stream *self)
{
    self->end_sent = true;
    schedule(self);
}

void memory_stream_break(struct memory_stream *self)
{
    self->broken = true;
    schedule(self);
}

/* Implements the stream on a pipe or terminal; see pipe_stream.h. Like socket_turn() in
 * socket_stream.c, pipe_turn() calls all callbacks of the owner except on_closed. */
#include "net/stream/pipe_stream.h"

#include "base/mem.h"
#include "net/stream/send_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <uv.h>

enum {
    READ_SIZE = 64 * 1024,
    READ_BUDGET = 256 * 1024,       /* maximum bytes per turn, because other I/O must not wait */
    PENDING_MAX = 64 * 1024 * 1024, /* limit for owners that ignore stream_pending() */
};

struct pipe_stream {
    struct stream stream;
    struct loop *loop;
    int fd;             /* -1: closed */
    bool reads, writes; /* the directions in which this stream transfers bytes */
    uv_poll_t poll;
    int polled;            /* the events that libuv polls for */
    struct loop_task task; /* calls pipe_turn() without an event */
    struct send_queue queue;
    int64_t left; /* number of bytes to deliver before the end that pipe_stream_end_here() set; -1:
                     not set */
    bool opened;  /* on_open was called */
    bool paused;
    bool blocked;       /* write() returned EAGAIN; wait until the descriptor is writable */
    bool sent_reported; /* on_sent was called after the last write */
    bool ended;         /* no more bytes follow */
    bool end_reported;  /* on_end was called */
    bool shutting;      /* stream_shut() was called */
    bool finishing;     /* stream_finish() was called */
    bool closed;        /* stream_close() was called */
    bool broken;        /* writing failed */
    struct err err;     /* the reason if `broken` */
};

static struct pipe_stream *pipe_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct pipe_stream, stream);
}

static void pipe_schedule(struct pipe_stream *self)
{
    if (!self->closed)
        loop_defer(self->loop, &self->task);
}

static void close_descriptor(struct pipe_stream *self)
{
    /* libuv must stop polling before close(), because the kernel may reuse the number of the
     * descriptor. */
    uv_poll_stop(&self->poll);
    self->polled = 0;
    if (self->fd >= 0)
        close(TAKE_FD(self->fd));
}

static void pipe_flush(struct pipe_stream *self)
{
    while (send_queue_size(&self->queue) && !self->blocked && !self->broken && self->fd >= 0) {
        ssize_t sent =
            write(self->fd, send_queue_data(&self->queue), send_queue_size(&self->queue));
        if (sent >= 0) {
            send_queue_take(&self->queue, (size_t)sent);
        } else if (errno == EAGAIN) {
            self->blocked = true;
        } else if (errno != EINTR) {
            self->broken = true;
            err_set_errno(&self->err, errno, "the program no longer reads its input");
        }
    }
}

static bool pipe_may_deliver(const struct pipe_stream *self)
{
    return self->reads && !self->paused && !self->closed && !self->ended && !self->finishing;
}

static void pipe_receive(struct pipe_stream *self)
{
    char data[READ_SIZE];
    for (size_t budget = READ_BUDGET; budget >= READ_SIZE && pipe_may_deliver(self);) {
        size_t room = sizeof(data);
        if (self->left >= 0 && (size_t)self->left < room)
            room = (size_t)self->left;
        ssize_t size = room ? read(self->fd, data, room) : 0;
        if (size > 0) {
            budget -= (size_t)size;
            if (self->left >= 0)
                self->left -= size;
            self->stream.handler->on_data(self->stream.context, data, (size_t)size);
        } else if (size < 0 && errno == EAGAIN) {
            return;
        } else if (size == 0 || errno != EINTR) {
            self->ended = true; /* also for an error: a terminal reports its end as EIO */
        }
    }
}

/* ---- pipe_turn() ----------------------------------------------------------------------------- */

static void on_pipe_poll(uv_poll_t *poll, int status, int events);

static void pipe_watch(struct pipe_stream *self)
{
    int events = (pipe_may_deliver(self) ? UV_READABLE : 0) | (self->blocked ? UV_WRITABLE : 0);
    if (events == self->polled || self->fd < 0)
        return;
    self->polled = events;
    if (events)
        uv_poll_start(&self->poll, events, on_pipe_poll);
    else
        uv_poll_stop(&self->poll);
}

static void pipe_report(struct pipe_stream *self)
{
    struct stream *stream = &self->stream;
    if (!self->sent_reported && send_queue_size(&self->queue) == 0 && !self->broken) {
        self->sent_reported = true;
        stream->handler->on_sent(stream->context);
    }
    if (self->ended && !self->end_reported && !self->closed) {
        self->end_reported = true;
        stream->handler->on_end(stream->context, NULL);
    }
    if (self->broken && !self->closed) {
        stream->handler->on_end(stream->context, &self->err);
        stream_close(stream);
    }
}

static void pipe_turn(struct pipe_stream *self)
{
    if (!self->opened) {
        self->opened = true;
        self->stream.handler->on_open(self->stream.context);
    }
    pipe_receive(self);
    if (self->closed)
        return;
    pipe_flush(self);
    if (self->shutting && !self->reads && send_queue_size(&self->queue) == 0)
        close_descriptor(self);
    if (self->finishing) {
        if (send_queue_size(&self->queue) == 0 || self->broken)
            stream_close(&self->stream);
    } else {
        pipe_report(self);
    }
    if (!self->closed)
        pipe_watch(self);
}

/* An error event needs no check here: the next read or write returns the error. */
static void on_pipe_poll(uv_poll_t *poll, int status, int events)
{
    struct pipe_stream *self = CONTAINER_OF(poll, struct pipe_stream, poll);
    if (status < 0)
        self->polled = 0; /* libuv has stopped polling */
    self->blocked = false;
    pipe_turn(self);
}

static void on_pipe_task(struct loop_task *task)
{
    pipe_turn(CONTAINER_OF(task, struct pipe_stream, task));
}

/* ---- functions for the owner ----------------------------------------------------------------- */

static void pipe_start(struct stream *stream)
{
    pipe_schedule(pipe_of(stream));
}

static void pipe_write(struct stream *stream, const void *data, size_t size)
{
    struct pipe_stream *self = pipe_of(stream);
    if (!self->writes || self->closed || self->broken || self->finishing || self->shutting)
        return;
    buf_append(&self->queue.buf, data, size);
    if (self->queue.buf.overflowed) {
        self->broken = true;
        err_set(&self->err, ERR_TOO_LARGE,
                "more than %d bytes wait for a program that does not read its input", PENDING_MAX);
    }
    self->sent_reported = false;
    pipe_schedule(self);
}

static size_t pipe_pending(const struct stream *stream)
{
    return send_queue_size(&pipe_of(stream)->queue);
}

static void pipe_pause(struct stream *stream, bool paused)
{
    struct pipe_stream *self = pipe_of(stream);
    if (self->paused == paused)
        return;
    self->paused = paused;
    pipe_schedule(self);
}

static void pipe_shut(struct stream *stream)
{
    struct pipe_stream *self = pipe_of(stream);
    self->shutting = true;
    pipe_schedule(self);
}

static void pipe_finish(struct stream *stream)
{
    struct pipe_stream *self = pipe_of(stream);
    self->finishing = true;
    pipe_schedule(self);
}

static void on_pipe_poll_closed(uv_handle_t *handle)
{
    struct pipe_stream *self = CONTAINER_OF(handle, struct pipe_stream, poll);
    if (self->stream.handler) /* the stream was started */
        self->stream.handler->on_closed(self->stream.context);
    send_queue_release(&self->queue);
    free(self);
}

static void pipe_close(struct stream *stream)
{
    struct pipe_stream *self = pipe_of(stream);
    if (self->closed)
        return;
    self->closed = true;
    loop_defer_cancel(self->loop, &self->task);
    close_descriptor(self);
    uv_close((uv_handle_t *)&self->poll, on_pipe_poll_closed);
}

static const struct stream_ops OPS = {
    .start = pipe_start,
    .write = pipe_write,
    .pending = pipe_pending,
    .pause = pipe_pause,
    .shut = pipe_shut,
    .finish = pipe_finish,
    .close = pipe_close,
};

void pipe_stream_end_here(struct stream *stream)
{
    struct pipe_stream *self = pipe_of(stream);
    int left = 0;
    if (self->writes || self->closed || self->ended || self->fd < 0)
        return;
    if (ioctl(self->fd, FIONREAD, &left) == 0)
        self->left = left;
    pipe_schedule(self);
}

int pipe_stream_new(struct loop *loop, int fd, bool both_ways, struct stream **ret, struct err *err)
{
    struct pipe_stream *self = mem_zalloc(sizeof(*self));
    int result = uv_poll_init(loop_uv(loop), &self->poll, fd);
    if (result < 0) {
        free(self);
        close(fd);
        return err_set_errno(err, -result, "cannot watch a pipe");
    }
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    self->stream.ops = &OPS;
    self->loop = loop;
    self->fd = fd;
    self->reads = mode == O_RDONLY || (mode == O_RDWR && both_ways);
    self->writes = mode != O_RDONLY;
    self->task.callback = on_pipe_task;
    self->sent_reported = true;
    self->left = -1;
    send_queue_init(&self->queue, PENDING_MAX);
    *ret = &self->stream;
    return 0;
}

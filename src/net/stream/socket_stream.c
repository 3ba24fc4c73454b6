/* Implements the stream on a TCP socket; see socket_stream.h, and stream.h for the contract.
 * Servers create one for each accepted connection; socket_dial.c and node/network/connect.c create
 * one for each outgoing connection.
 *
 * The stream uses uv_poll and calls recv() and send() itself. So it detects the end of a connection
 * even while reading is paused, and it needs no queue of libuv requests. socket_turn() calls all
 * callbacks of the owner except on_closed. It runs after an event of the socket, after a timeout,
 * or as a deferred task. The functions of the owner only change the state for the next
 * socket_turn(), except socket_close(), which acts at once. */
#include "net/stream/socket_stream.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/stream/send_queue.h"
#include "tls/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

enum {
    READ_SIZE = 32 * 1024,
    READ_BUDGET = 256 * 1024, /* maximum bytes per turn, because other I/O must not wait */
    SEND_BUDGET = 512 * 1024, /* about how many bytes are encrypted per turn, for the same reason */
    WIRE_HIGH = 128 * 1024,   /* while this many encrypted bytes wait, no more are encrypted */
    PENDING_MAX = 1024 * 1024 * 1024, /* limit for owners that ignore stream_pending() */
    LINGER_MS = 2000, /* time after stream_finish() in which the peer must close its side */
};

struct socket_stream {
    struct stream stream;
    struct loop *loop;
    int fd;
    uv_poll_t poll;
    int polled; /* the events that libuv polls for */
    struct tls_session *tls;
    struct loop_task task; /* calls socket_turn() without an event */
    /* The stall timeout. If finish_sent, the time limit for the peer to close its side. */
    struct loop_timer timer;
    int64_t stall_timeout_ms;

    struct send_queue plain; /* bytes that the owner has written; with TLS, not encrypted yet */
    struct send_queue wire;  /* encrypted bytes for the socket; unused without TLS */

    bool opened; /* on_open was called */
    bool paused;
    bool ended;         /* the peer closed its side */
    bool end_reported;  /* on_end was called */
    bool blocked;       /* send() returned EAGAIN; wait until the socket is writable */
    bool sent_reported; /* on_sent was called after the last write */
    bool flush_follows; /* socket_turn() is running and flushes later, so writes defer no task */
    bool keeps_all;     /* socket_stream_keep_all() */
    bool shutting;      /* stream_shut() was called */
    bool was_shut;      /* after stream_shut(), all bytes were sent and the write side is closed */
    bool finishing;     /* stream_finish() was called */
    bool finish_sent; /* after stream_finish(), all bytes were sent and the write side is closed */
    bool closed;      /* stream_close() was called */
    bool broken;      /* the connection failed */
    struct err err;   /* the reason if `broken` */
};

static struct socket_stream *socket_of(const struct stream *stream)
{
    return CONTAINER_OF(stream, struct socket_stream, stream);
}

static void socket_schedule(struct socket_stream *self)
{
    if (!self->closed && !self->flush_follows)
        loop_defer(self->loop, &self->task);
}

static void socket_fail(struct socket_stream *self, const struct err *err)
{
    if (self->broken)
        return;
    self->broken = true;
    self->err = *err;
}

static void fail_errno(struct socket_stream *self, int errnum, const char *what)
{
    struct err err;
    err_set_errno(&err, errnum, "%s", what);
    socket_fail(self, &err);
}

/* ---- sending --------------------------------------------------------------------------------- */

static size_t socket_pending(const struct stream *stream)
{
    const struct socket_stream *self = socket_of(stream);
    return send_queue_size(&self->plain) + send_queue_size(&self->wire);
}

/* Moves the session's encrypted bytes to the wire queue. */
static void drain_session(struct socket_stream *self)
{
    enum { PIECE = 16 * 1024 + 512 }; /* one TLS record */
    for (;;) {
        char *room = buf_reserve(&self->wire.buf, PIECE);
        long size = room ? tls_drain(self->tls, room, PIECE) : 0;
        if (size <= 0)
            return;
        buf_commit(&self->wire.buf, (size_t)size);
    }
}

/* Encrypts some bytes of the `plain` queue. Returns false if no byte was encrypted. */
static bool socket_encrypt(struct socket_stream *self)
{
    bool moved = false;
    while (send_queue_size(&self->plain) && send_queue_size(&self->wire) < WIRE_HIGH) {
        struct err err;
        long size = tls_write(self->tls, send_queue_data(&self->plain),
                              send_queue_size(&self->plain), &err);
        if (size < 0)
            socket_fail(self, &err);
        if (size <= 0)
            break;
        send_queue_take(&self->plain, (size_t)size);
        drain_session(self);
        moved = true;
    }
    return moved;
}

/* Sends bytes of the queue until the queue is empty, the socket is full or sending fails. */
static void send_queued(struct socket_stream *self, struct send_queue *queue)
{
    while (send_queue_size(queue) && !self->blocked) {
        ssize_t sent = send(self->fd, send_queue_data(queue), send_queue_size(queue), MSG_NOSIGNAL);
        if (sent >= 0) {
            send_queue_take(queue, (size_t)sent);
            /* The stall timeout restarts after every successful send(). */
            if (!self->finish_sent)
                loop_timer_stop(&self->timer);
        } else if (errno == EAGAIN) {
            self->blocked = true;
        } else if (errno != EINTR) {
            fail_errno(self, errno, "cannot send to the peer");
            return;
        }
    }
}

static void socket_flush(struct socket_stream *self)
{
    if (self->broken)
        return;
    if (!self->tls) {
        send_queued(self, &self->plain);
    } else {
        size_t before = send_queue_size(&self->plain);
        drain_session(self);
        do {
            send_queued(self, &self->wire);
        } while (!self->blocked && !self->broken &&
                 before - send_queue_size(&self->plain) < SEND_BUDGET && socket_encrypt(self));
        if (!self->blocked && send_queue_size(&self->plain))
            loop_defer(self->loop, &self->task); /* the next socket_turn() sends the rest */
    }
    if (self->blocked && !self->timer.running)
        loop_timer_start(&self->timer, self->stall_timeout_ms);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static bool socket_may_deliver(const struct socket_stream *self)
{
    return !self->paused && !self->closed && !self->broken && !self->end_reported;
}

static void socket_deliver(struct socket_stream *self, const char *data, size_t size)
{
    if (!self->finishing) /* after stream_finish(), received bytes are dropped */
        self->stream.handler->on_data(self->stream.context, data, size);
}

/* Decrypts received bytes and delivers them to the owner until no bytes are left or the owner
 * pauses. */
static void socket_decrypt(struct socket_stream *self)
{
    char data[READ_SIZE];
    while (socket_may_deliver(self)) {
        struct err err;
        long size = tls_read(self->tls, data, sizeof(data), &err);
        if (size < 0)
            socket_fail(self, &err);
        if (!self->opened && tls_handshake_done(self->tls)) {
            self->opened = true;
            self->stream.handler->on_open(self->stream.context);
        }
        if (size <= 0)
            break;
        socket_deliver(self, data, (size_t)size);
    }
    if (tls_peer_closed(self->tls))
        self->ended = true;
}

static void take_bytes(struct socket_stream *self, const char *data, size_t size)
{
    if (!self->tls) {
        socket_deliver(self, data, size);
        return;
    }
    struct err err;
    if (tls_feed(self->tls, data, size, &err) < 0)
        socket_fail(self, &err);
    else
        socket_decrypt(self);
}

static void socket_receive(struct socket_stream *self)
{
    char data[READ_SIZE];
    for (size_t budget = READ_BUDGET; budget && socket_may_deliver(self) && !self->ended;) {
        ssize_t size = recv(self->fd, data, sizeof(data), 0);
        if (size > 0) {
            take_bytes(self, data, (size_t)size);
            budget -= (size_t)size < budget ? (size_t)size : budget;
            /* A short read has emptied the socket. If more bytes arrive, the level-triggered poll
             * reports them. */
            if ((size_t)size < sizeof(data))
                return;
        } else if (size == 0) {
            self->ended = true;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            fail_errno(self, errno, "the connection to the peer failed");
        }
    }
}

/* ---- socket_turn() --------------------------------------------------------------------------- */

static void on_socket_poll(uv_poll_t *poll, int status, int events);

static void socket_watch(struct socket_stream *self)
{
    int events = 0;
    if (!self->ended && !(self->paused && self->keeps_all))
        events |= UV_DISCONNECT | (self->paused ? 0 : UV_READABLE);
    if (self->blocked)
        events |= UV_WRITABLE;
    if (events == self->polled)
        return;
    self->polled = events;
    if (events)
        uv_poll_start(&self->poll, events, on_socket_poll);
    else
        uv_poll_stop(&self->poll);
}

/* Closes our side after everything is sent, then waits until the peer closes its side. Closing a
 * socket with unread bytes would cause a reset, and the peer could lose the response. */
static void socket_continue_finish(struct socket_stream *self)
{
    if (!self->finish_sent && socket_pending(&self->stream) == 0) {
        self->finish_sent = true;
        if (self->tls) {
            tls_shutdown(self->tls);
            socket_flush(self);
        }
        shutdown(self->fd, SHUT_WR);
        loop_timer_start(&self->timer, LINGER_MS);
    }
    if (self->broken || (self->finish_sent && self->ended))
        stream_close(&self->stream);
}

static void socket_continue_shut(struct socket_stream *self)
{
    if (self->was_shut || socket_pending(&self->stream) > 0 || self->broken)
        return;
    self->was_shut = true;
    if (self->tls) {
        tls_shutdown(self->tls);
        socket_flush(self);
    }
    shutdown(self->fd, SHUT_WR);
}

static void socket_report(struct socket_stream *self)
{
    struct stream *stream = &self->stream; /* stream->handler may change with each callback */
    if (!self->sent_reported && socket_pending(stream) == 0 && !self->broken) {
        self->sent_reported = true;
        stream->handler->on_sent(stream->context);
    }
    /* Reported even while the owner has paused reading, unless the stream keeps all bytes
     * (keeps_all). The unread bytes are lost, but the owner learns early that the peer is gone. */
    if (self->ended && !self->end_reported && !self->broken && !self->finishing && !self->closed) {
        self->end_reported = true;
        stream->handler->on_end(stream->context, NULL);
    }
    if (self->broken && !self->finishing && !self->closed) {
        self->end_reported = self->ended = true;
        stream->handler->on_end(stream->context, &self->err);
        if (!self->closed)
            stream_close(stream);
    }
}

static void socket_turn(struct socket_stream *self, int events)
{
    self->flush_follows = true;
    if (!self->opened && !self->tls) {
        self->opened = true;
        self->stream.handler->on_open(self->stream.context);
    }
    if (events & UV_WRITABLE)
        self->blocked = false;
    if (self->tls)
        socket_decrypt(self); /* decrypt bytes that were left when the owner paused */
    if (events & UV_READABLE)
        socket_receive(self);
    if (events & UV_DISCONNECT && self->paused && !self->keeps_all)
        self->ended = true;
    self->flush_follows = false;
    if (self->closed)
        return;
    socket_flush(self);
    if (self->shutting)
        socket_continue_shut(self);
    if (self->finishing)
        socket_continue_finish(self);
    else
        socket_report(self);
    if (!self->closed)
        socket_watch(self);
}

static void on_socket_poll(uv_poll_t *poll, int status, int events)
{
    struct socket_stream *self = CONTAINER_OF(poll, struct socket_stream, poll);
    if (status < 0) {
        int errnum = 0;
        socklen_t size = sizeof(errnum);
        getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &errnum, &size);
        self->polled = 0;
        self->ended = true;
        fail_errno(self, errnum ? errnum : ECONNRESET, "the connection to the peer failed");
    }
    socket_turn(self, events);
}

static void on_socket_task(struct loop_task *task)
{
    socket_turn(CONTAINER_OF(task, struct socket_stream, task), 0);
}

static void on_socket_timer(struct loop_timer *timer)
{
    struct socket_stream *self = CONTAINER_OF(timer, struct socket_stream, timer);
    size_t before = socket_pending(&self->stream);
    /* This process may have been delayed although the peer has read everything, so try to send
     * before failing. */
    self->blocked = false;
    if (!self->finish_sent)
        socket_flush(self);
    if (socket_pending(&self->stream) == before) {
        struct err err;
        err_set(&err, ERR_TIMEOUT, "the peer has read nothing for %lld ms",
                (long long)self->stall_timeout_ms);
        socket_fail(self, &err);
    }
    socket_turn(self, 0);
}

/* ---- functions for the owner ----------------------------------------------------------------- */

static void socket_start(struct stream *stream)
{
    socket_schedule(socket_of(stream));
}

static void socket_write(struct stream *stream, const void *data, size_t size)
{
    struct socket_stream *self = socket_of(stream);
    if (self->closed || self->broken || self->finishing || self->shutting)
        return;
    buf_append(&self->plain.buf, data, size);
    if (self->plain.buf.overflowed) {
        struct err err;
        err_set(&err, ERR_TOO_LARGE, "more than %d bytes wait for a peer that does not read",
                PENDING_MAX);
        socket_fail(self, &err);
    }
    self->sent_reported = false;
    socket_schedule(self);
}

static void socket_pause(struct stream *stream, bool paused)
{
    struct socket_stream *self = socket_of(stream);
    if (self->paused == paused)
        return;
    self->paused = paused;
    /* The TLS session may have received bytes for which no further socket event comes. */
    if (!self->closed && (!paused || !self->flush_follows))
        loop_defer(self->loop, &self->task);
}

static void socket_set_stall_timeout(struct stream *stream, int64_t stall_timeout_ms)
{
    socket_of(stream)->stall_timeout_ms = stall_timeout_ms;
}

static void socket_shut(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    self->shutting = true;
    socket_schedule(self);
}

static void socket_finish(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    if (self->finishing || self->closed)
        return;
    self->finishing = true;
    self->paused = false;
    socket_schedule(self);
}

static void on_socket_poll_closed(uv_handle_t *handle)
{
    struct socket_stream *self = CONTAINER_OF(handle, struct socket_stream, poll);
    if (self->stream.handler) /* the stream was started */
        self->stream.handler->on_closed(self->stream.context);
    send_queue_release(&self->plain);
    send_queue_release(&self->wire);
    tls_session_free(self->tls);
    free(self);
}

static void socket_close(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    if (self->closed)
        return;
    /* Try once to send the pending bytes, for example a TLS alert. */
    if (self->tls) {
        tls_shutdown(self->tls);
        drain_session(self);
        send_queued(self, &self->wire);
    } else {
        send_queued(self, &self->plain);
    }
    self->closed = true;
    loop_defer_cancel(self->loop, &self->task);
    loop_timer_stop(&self->timer);
    /* libuv must stop polling before close(), because the kernel may reuse the number of the
     * descriptor. */
    uv_poll_stop(&self->poll);
    uv_close((uv_handle_t *)&self->poll, on_socket_poll_closed);
    close(self->fd);
    self->fd = -1;
}

static const struct stream_ops OPS = {
    .start = socket_start,
    .write = socket_write,
    .pending = socket_pending,
    .pause = socket_pause,
    .set_stall_timeout = socket_set_stall_timeout,
    .shut = socket_shut,
    .finish = socket_finish,
    .close = socket_close,
};

void socket_stream_keep_all(struct stream *stream)
{
    socket_of(stream)->keeps_all = true;
}

int socket_stream_new(struct loop *loop, int fd, struct tls_server *tls, int64_t stall_timeout_ms,
                      struct stream **ret, struct err *err)
{
    if (!loop_uv(loop)) {
        close(fd);
        return err_set(err, ERR_UNSUPPORTED, "sockets do not exist in simulation");
    }
    struct socket_stream *self = mem_zalloc(sizeof(*self));
    int result = uv_poll_init(loop_uv(loop), &self->poll, fd);
    if (result < 0) {
        free(self);
        close(fd);
        return err_set_errno(err, -result, "cannot watch a socket");
    }
    self->stream.ops = &OPS;
    self->loop = loop;
    self->fd = fd;
    self->tls = tls ? tls_session_new(tls) : NULL;
    self->stall_timeout_ms = stall_timeout_ms;
    self->task.callback = on_socket_task;
    self->sent_reported = true;
    loop_timer_init(loop, &self->timer, on_socket_timer);
    send_queue_init(&self->plain, PENDING_MAX);
    send_queue_init(&self->wire, PENDING_MAX);
    *ret = &self->stream;
    return 0;
}

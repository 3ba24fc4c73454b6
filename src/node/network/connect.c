/* Opens connections to pods; see network/connect.h. */
#include "node/network/connect.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/stream/socket_stream.h"
#include "node/network/namespaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

enum {
    PLACES_MAX = 3,
    CONNECT_TIMEOUT_MS = 10 * 1000,
    STALL_TIMEOUT_MS = 15 * 60 * 1000, /* a program may be stopped in a debugger */
};

/* An address to try. */
struct place {
    struct sockaddr_storage address;
    socklen_t size;
};

struct node_connect {
    struct loop *loop;
    char *directory; /* the pod's directory, for sockets in the pod's own network; or NULL */
    struct place places[PLACES_MAX];
    size_t place_count, next_place;
    int fd;
    uv_poll_t *poll; /* freed in libuv's close callback */
    struct loop_timer timer;
    struct loop_task task; /* reports a failure from the loop */
    char where[64];        /* "localhost:3000 in the pod", for messages */
    node_connect_done *done;
    void *context;
    /* The error of the first address that failed, because the first address is the most relevant
     * one. A timeout replaces it. */
    struct err err;
};

static void on_connect_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_socket(struct node_connect *self)
{
    if (self->poll) {
        uv_poll_stop(self->poll);
        uv_close((uv_handle_t *)TAKE(self->poll), on_connect_poll_closed);
    }
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
}

static void connect_release(struct node_connect *self)
{
    loop_timer_stop(&self->timer);
    loop_defer_cancel(self->loop, &self->task);
    close_socket(self);
    free(self->directory);
    free(self);
}

void node_connect_cancel(struct node_connect *self)
{
    connect_release(self);
}

/* Frees the attempt and reports its result. */
static void connect_finish(struct node_connect *self, struct stream *stream)
{
    node_connect_done *done = self->done;
    void *context = self->context;
    struct err err = self->err;
    connect_release(self);
    done(context, stream, stream ? NULL : &err);
}

static void on_connect_failed(struct loop_task *task)
{
    connect_finish(CONTAINER_OF(task, struct node_connect, task), NULL);
}

static void on_connect_timeout(struct loop_timer *timer)
{
    struct node_connect *self = CONTAINER_OF(timer, struct node_connect, timer);
    err_set(&self->err, ERR_TIMEOUT, "cannot connect to %s: no answer within %d s", self->where,
            CONNECT_TIMEOUT_MS / 1000);
    connect_finish(self, NULL);
}

/* ---- one address after the other ------------------------------------------------------------- */

static void connect_try_next(struct node_connect *self);

static void on_connect_poll(uv_poll_t *poll, int status, int events)
{
    struct node_connect *self = poll->data;
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && status < 0)
        error = -status;
    if (error) {
        if (!self->err.code)
            err_set_errno(&self->err, error, "cannot connect to %s", self->where);
        close_socket(self);
        connect_try_next(self);
        return;
    }
    struct stream *stream = NULL;
    uv_poll_stop(self->poll); /* the stream watches the socket from here on */
    if (socket_stream_new(self->loop, TAKE_FD(self->fd), NULL, STALL_TIMEOUT_MS, &stream,
                          &self->err) == 0)
        socket_stream_keep_all(stream);
    connect_finish(self, stream);
}

static int connect_make_socket(struct node_connect *self, const struct place *place,
                               struct err *err)
{
    int family = place->address.ss_family;
    if (self->directory)
        return node_pod_socket(self->directory, family, SOCK_STREAM, 0, &self->fd, err);
    self->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return self->fd < 0 ? err_set_errno(err, errno, "cannot make a socket") : 0;
}

/* Starts to connect to one address. */
static int connect_begin(struct node_connect *self, const struct place *place, struct err *err)
{
    int result = connect_make_socket(self, place, err);
    if (result < 0)
        return result;
    const int on = 1;
    setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(self->fd, (const struct sockaddr *)&place->address, place->size) < 0 &&
        errno != EINPROGRESS)
        return err_set_errno(err, errno, "cannot connect to %s", self->where);
    uv_poll_t *poll = mem_alloc(sizeof(*poll));
    result = uv_poll_init(loop_uv(self->loop), poll, self->fd);
    if (result < 0) {
        free(poll);
        return err_set_errno(err, -result, "cannot watch a socket");
    }
    poll->data = self;
    self->poll = poll;
    uv_poll_start(poll, UV_WRITABLE, on_connect_poll);
    return 0;
}

/* Starts to connect to the next address. If none is left, reports the failure. */
static void connect_try_next(struct node_connect *self)
{
    while (self->next_place < self->place_count) {
        struct err err = ERR_INIT;
        if (connect_begin(self, &self->places[self->next_place++], &err) == 0)
            return;
        close_socket(self);
        if (!self->err.code)
            self->err = err;
    }
    loop_defer(self->loop, &self->task);
}

/* ---- interface ------------------------------------------------------------------------------- */

/* Adds an address to try. Ignores a text that is not an address. */
static void connect_add_place(struct node_connect *self, const char *host, int port)
{
    struct place *place = &self->places[self->place_count];
    struct sockaddr_in *in = (void *)&place->address;
    struct sockaddr_in6 *in6 = (void *)&place->address;
    if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        place->size = sizeof(*in);
    } else if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        place->size = sizeof(*in6);
    } else {
        return;
    }
    self->place_count++;
}

struct node_connect *node_connect_inside(struct loop *loop, const char *directory,
                                         const char *address, int port, node_connect_done *done,
                                         void *context)
{
    struct node_connect *self = mem_zalloc(sizeof(*self));
    self->loop = loop;
    self->directory = directory ? mem_strdup(directory) : NULL;
    self->fd = -1;
    self->done = done;
    self->context = context;
    self->task.callback = on_connect_failed;
    loop_timer_init(loop, &self->timer, on_connect_timeout);
    loop_timer_start(&self->timer, CONNECT_TIMEOUT_MS);
    snprintf(self->where, sizeof(self->where), "localhost:%d in the pod", port);
    if (port < 1 || port > 65535) {
        err_set(&self->err, ERR_INVALID, "cannot connect to %s: the port is not 1 to 65535",
                self->where);
    } else {
        connect_add_place(self, "127.0.0.1", port);
        connect_add_place(self, "::1", port);
        if (directory && address)
            connect_add_place(self, address, port);
    }
    connect_try_next(self);
    return self;
}

/* Connections to pods; see connect.h. */
#include "node/connect.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/socket_stream.h"
#include "node/pod_network.h"
#include "node/space.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <uv.h>

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    STALL_TIMEOUT_MS = 15 * 60 * 1000, /* a program may sit in a debugger */
};

struct node_connect {
    struct loop *loop;
    int fd;
    uv_poll_t poll;
    bool polling;
    struct loop_timer timer;
    struct loop_task task; /* what failed at once is told in a turn of its own */
    char where[64];        /* "10.244.1.2:3000", for messages */
    node_connect_done *done;
    void *context;
    struct err err;
};

static void on_poll_closed(uv_handle_t *handle)
{
    free(CONTAINER_OF(handle, struct node_connect, poll));
}

/* The memory goes when libuv lets go of it. */
static void release(struct node_connect *self)
{
    loop_timer_stop(&self->timer);
    loop_defer_cancel(self->loop, &self->task);
    if (self->polling) {
        uv_poll_stop(&self->poll);
        uv_close((uv_handle_t *)&self->poll, on_poll_closed);
    }
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
    if (!self->polling)
        free(self);
}

void node_connect_cancel(struct node_connect *self)
{
    release(self);
}

static void finish(struct node_connect *self, struct stream *stream)
{
    node_connect_done *done = self->done;
    void *context = self->context;
    struct err err = self->err;
    release(self);
    done(context, stream, stream ? NULL : &err);
}

static void on_failed(struct loop_task *task)
{
    finish(CONTAINER_OF(task, struct node_connect, task), NULL);
}

static void on_timeout(struct loop_timer *timer)
{
    struct node_connect *self = CONTAINER_OF(timer, struct node_connect, timer);
    err_set(&self->err, ERR_TIMEOUT, "cannot connect to %s: no answer within %d s", self->where,
            CONNECT_TIMEOUT_MS / 1000);
    finish(self, NULL);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct node_connect *self = CONTAINER_OF(poll, struct node_connect, poll);
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && status < 0)
        error = -status;
    struct stream *stream = NULL;
    if (error) {
        err_set_errno(&self->err, error, "cannot connect to %s", self->where);
    } else {
        uv_poll_stop(&self->poll); /* the stream watches from here on */
        if (socket_stream_new(self->loop, TAKE_FD(self->fd), NULL, STALL_TIMEOUT_MS, &stream,
                              &self->err) == 0)
            socket_stream_keep_all(stream);
    }
    finish(self, stream);
}

/* Pods and services live in the pod network; what else there is, such as a node's own address, is
 * the machine's. */
static bool is_inside(struct in_addr address)
{
    const unsigned char *octets = (const unsigned char *)&address.s_addr;
    return octets[0] == 10 && (octets[1] == 244 || octets[1] == 96);
}

static int begin(struct node_connect *self, struct node_space *space, const char *address, int port)
{
    struct err *err = &self->err;
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &peer.sin_addr) != 1 || port < 1 || port > 65535)
        return err_set(err, ERR_INVALID, "'%s' is no address to connect to", self->where);
    int result = 0;
    if (space && is_inside(peer.sin_addr))
        result = node_space_socket(space, AF_INET, SOCK_STREAM, 0, &self->fd, err);
    else if ((self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0)
        result = err_set_errno(err, errno, "cannot make a socket");
    if (result < 0)
        return result;
    const int on = 1;
    setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(self->fd, (struct sockaddr *)&peer, sizeof(peer)) < 0 && errno != EINPROGRESS)
        return err_set_errno(err, errno, "cannot connect to %s", self->where);
    int status = uv_poll_init(loop_uv(self->loop), &self->poll, self->fd);
    if (status < 0)
        return err_set_errno(err, -status, "cannot watch a socket");
    self->polling = true;
    uv_poll_start(&self->poll, UV_WRITABLE, on_poll);
    loop_timer_start(&self->timer, CONNECT_TIMEOUT_MS);
    return 0;
}

struct node_connect *node_connect_pod(struct loop *loop, struct node_space *space,
                                      const char *address, int port, node_connect_done *done,
                                      void *context)
{
    struct node_connect *self = mem_zalloc(sizeof(*self));
    self->loop = loop;
    self->fd = -1;
    self->done = done;
    self->context = context;
    self->task.callback = on_failed;
    snprintf(self->where, sizeof(self->where), "%s:%d", address, port);
    loop_timer_init(loop, &self->timer, on_timeout);
    if (begin(self, space, address, port) < 0)
        loop_defer(loop, &self->task);
    return self;
}

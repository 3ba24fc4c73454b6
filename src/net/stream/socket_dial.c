/* Opens TCP connections; see socket_dial.h. */
#include "net/stream/socket_dial.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/stream/socket_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { STALL_TIMEOUT_MS = 60 * 1000 };

struct socket_dial {
    struct loop *loop;
    int fd;
    /* Allocated separately, because libuv still uses it after this struct is freed. */
    uv_poll_t *poll;
    struct loop_timer timer;
    struct loop_task task; /* reports an immediate failure from the loop */
    int64_t timeout_ms;
    char where[INET6_ADDRSTRLEN + 16]; /* address and port, for messages */
    struct err err;
    socket_dial_done *done;
    void *context;
};

static void on_dial_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

static void dial_release(struct socket_dial *dial)
{
    loop_timer_stop(&dial->timer);
    loop_defer_cancel(dial->loop, &dial->task);
    if (dial->poll) {
        uv_poll_stop(dial->poll);
        uv_close((uv_handle_t *)TAKE(dial->poll), on_dial_poll_closed);
    }
    if (dial->fd >= 0)
        close(dial->fd);
    free(dial);
}

void socket_dial_cancel(struct socket_dial *dial)
{
    dial_release(dial);
}

static void dial_finish(struct socket_dial *dial, struct stream *stream)
{
    socket_dial_done *done = dial->done;
    void *context = dial->context;
    struct err err = dial->err;

    dial_release(dial);
    done(context, stream, stream ? NULL : &err);
}

static void on_dial_failed(struct loop_task *task)
{
    dial_finish(CONTAINER_OF(task, struct socket_dial, task), NULL);
}

static void on_dial_timeout(struct loop_timer *timer)
{
    struct socket_dial *dial = CONTAINER_OF(timer, struct socket_dial, timer);

    err_set(&dial->err, ERR_TIMEOUT, "cannot connect to %s: no answer within %lld ms", dial->where,
            (long long)dial->timeout_ms);
    dial_finish(dial, NULL);
}

static void on_dial_poll(uv_poll_t *poll, int status, int events)
{
    struct socket_dial *dial = poll->data;
    struct stream *stream = NULL;
    int error = 0;
    socklen_t size = sizeof(error);

    getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && status < 0)
        error = -status;
    uv_poll_stop(dial->poll); /* from now on the stream polls the socket */
    if (error)
        err_set_errno(&dial->err, error, "cannot connect to %s", dial->where);
    else
        (void)socket_stream_new(dial->loop, TAKE_FD(dial->fd), NULL, STALL_TIMEOUT_MS, &stream,
                                &dial->err);
    dial_finish(dial, stream);
}

static int read_address(const char *address, int port, struct sockaddr_storage *ret,
                        socklen_t *ret_size)
{
    struct sockaddr_in *in = (void *)ret;
    struct sockaddr_in6 *in6 = (void *)ret;

    *ret = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, address, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        *ret_size = sizeof(*in);
    } else if (inet_pton(AF_INET6, address, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        *ret_size = sizeof(*in6);
    } else {
        return -1;
    }
    return 0;
}

static int dial_begin(struct socket_dial *dial, const char *address, int port, struct err *err)
{
    struct sockaddr_storage target;
    socklen_t size;
    const int on = 1;

    if (!loop_uv(dial->loop))
        return err_set(err, ERR_UNSUPPORTED, "sockets do not exist in simulation");
    if (port < 1 || port > 65535)
        return err_set(err, ERR_INVALID, "cannot connect to %s: the port must be 1 to 65535",
                       dial->where);
    if (read_address(address, port, &target, &size) < 0)
        return err_set(err, ERR_INVALID, "'%s' is not an IP address to connect to", dial->where);
    dial->fd = socket(target.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dial->fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(dial->fd, (struct sockaddr *)&target, size) < 0 && errno != EINPROGRESS)
        return err_set_errno(err, errno, "cannot connect to %s", dial->where);
    dial->poll = mem_alloc(sizeof(*dial->poll));
    int result = uv_poll_init(loop_uv(dial->loop), dial->poll, dial->fd);
    if (result < 0) {
        free(TAKE(dial->poll));
        return err_set_errno(err, -result, "cannot watch a socket");
    }
    dial->poll->data = dial;
    uv_poll_start(dial->poll, UV_WRITABLE, on_dial_poll);
    return 0;
}

struct socket_dial *socket_dial_start(struct loop *loop, const char *address, int port,
                                      int64_t timeout_ms, socket_dial_done *done, void *context)
{
    struct socket_dial *dial = mem_zalloc(sizeof(*dial));

    dial->loop = loop;
    dial->fd = -1;
    dial->timeout_ms = timeout_ms;
    dial->done = done;
    dial->context = context;
    dial->task.callback = on_dial_failed;
    snprintf(dial->where, sizeof(dial->where), "%.45s:%d", address, port);
    loop_timer_init(loop, &dial->timer, on_dial_timeout);
    loop_timer_start(&dial->timer, timeout_ms);
    if (dial_begin(dial, address, port, &dial->err) < 0)
        loop_defer(loop, &dial->task);
    return dial;
}

/* Tests connecting to an address, on real sockets. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/stream/socket_dial.h"
#include "net/stream/socket_stream.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    struct loop *loop;
    struct stream *stream;
    struct err err;
    bool done, opened;
};

static void on_open(void *context)
{
    struct world *world = context;

    world->opened = true;
    stream_close(world->stream);
}

static void on_data(void *context, const char *data, size_t size)
{
}

static void on_sent(void *context)
{
}

static void on_end(void *context, const struct err *err)
{
}

static void on_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

static const struct stream_handler HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_sent = on_sent,
    .on_end = on_end,
    .on_closed = on_closed,
};

static void on_done(void *context, struct stream *stream, const struct err *err)
{
    struct world *world = context;

    world->done = true;
    world->stream = stream;
    if (err)
        world->err = *err;
    if (stream)
        stream_start(stream, &HANDLER, world);
    else
        loop_stop(world->loop);
}

/* Returns a port of this machine that listens, or (if not `listens`) a port that has just been
 * closed. */
static int take_port(int *ret_fd, bool listens)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);

    *ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*ret_fd, (struct sockaddr *)&address, size), 0);
    if (listens)
        assert_int_equal(listen(*ret_fd, 1), 0);
    assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

static void dial(struct world *world, const char *address, int port)
{
    *world = (struct world){0};
    assert_int_equal(loop_new(&world->loop, NULL), 0);
    socket_dial_start(world->loop, address, port, 60000, on_done, world);
    assert_false(world->done); /* the callback never runs from within the call */
    loop_run(world->loop);
    assert_true(world->done);
    loop_free(world->loop);
}

static void test_listening_port(void **state)
{
    _cleanup_fd_ int fd = -1;
    struct world world;

    dial(&world, "127.0.0.1", take_port(&fd, true));
    assert_true(world.opened);
}

static void test_closed_port(void **state)
{
    _cleanup_fd_ int fd = -1;
    struct world world;

    dial(&world, "127.0.0.1", take_port(&fd, false));
    assert_null(world.stream);
    assert_non_null(strstr(world.err.message, "cannot connect to 127.0.0.1:"));
}

static void test_invalid_address(void **state)
{
    static const struct {
        const char *address;
        int port;
    } rows[] = {{"", 80}, {"localhost", 80}, {"127.0.0.1", 0}, {"127.0.0.1", 65536}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct world world;

        dial(&world, rows[i].address, rows[i].port);
        assert_null(world.stream);
        assert_int_equal(world.err.code, ERR_INVALID);
    }
}

static void test_stream_that_was_never_started(void **state)
{
    struct loop *loop;
    struct stream *stream = NULL;
    int fds[2];

    assert_int_equal(loop_new(&loop, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(socket_stream_new(loop, fds[0], NULL, 1000, &stream, NULL), 0);
    stream_close(stream);
    loop_run(loop);
    assert_int_equal(send(fds[1], "x", 1, MSG_NOSIGNAL), -1);
    close(fds[1]);
    loop_free(loop);
}

static void stop(struct loop_timer *timer)
{
    loop_stop(timer->loop);
}

static void test_cancelled_connect(void **state)
{
    _cleanup_fd_ int fd = -1;
    struct world world = {0};
    struct loop_timer timer;

    assert_int_equal(loop_new(&world.loop, NULL), 0);
    socket_dial_cancel(
        socket_dial_start(world.loop, "127.0.0.1", take_port(&fd, true), 60000, on_done, &world));
    loop_timer_init(world.loop, &timer, stop);
    loop_timer_start(&timer, 10);
    loop_run(world.loop);
    assert_false(world.done);
    loop_free(world.loop);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listening_port),
        cmocka_unit_test(test_closed_port),
        cmocka_unit_test(test_invalid_address),
        cmocka_unit_test(test_cancelled_connect),
        cmocka_unit_test(test_stream_that_was_never_started),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

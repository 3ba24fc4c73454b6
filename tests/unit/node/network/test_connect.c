/* Tests node_connect_inside() and the stream that it returns: a pause loses no bytes, each
 * direction ends separately, and a failure is reported from the loop. */
#include "node/network/connect.h"

#include "base/buf.h"
#include "base/mem.h"
#include "own_network.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct peer {
    struct loop *loop;
    int listener, port;
    struct stream *stream;
    struct err err;
    struct buf received;
    bool done, ended, closed;
    struct loop_timer timer;
};

static void on_open(void *context)
{
    (void)context;
}

static void on_data(void *context, const char *data, size_t size)
{
    struct peer *peer = context;
    buf_append(&peer->received, data, size);
}

static void on_end(void *context, const struct err *err)
{
    struct peer *peer = context;
    assert_null(err);
    peer->ended = true;
    loop_stop(peer->loop);
}

static void on_closed(void *context)
{
    struct peer *peer = context;
    peer->closed = true;
    loop_stop(peer->loop);
}

static const struct stream_handler HANDLER = {on_open, on_data, on_open, on_end, on_closed};

static void on_connected(void *context, struct stream *stream, const struct err *err)
{
    struct peer *peer = context;
    peer->done = true;
    peer->stream = stream;
    if (err)
        peer->err = *err;
    loop_stop(peer->loop);
}

static void on_timer(struct loop_timer *timer)
{
    struct peer *peer = CONTAINER_OF(timer, struct peer, timer);
    loop_stop(peer->loop);
}

/* Runs the loop for a while. */
static void run_a_while(struct peer *peer)
{
    loop_timer_start(&peer->timer, 20);
    loop_run(peer->loop);
}

static int set_up(void **state)
{
    struct peer *peer = mem_zalloc(sizeof(*peer));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    assert_int_equal(loop_new(&peer->loop, &peer->err), 0);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(peer->listener, 4), 0);
    assert_int_equal(getsockname(peer->listener, (struct sockaddr *)&address, &size), 0);
    peer->port = ntohs(address.sin_port);
    buf_init(&peer->received, 1024 * 1024);
    loop_timer_init(peer->loop, &peer->timer, on_timer);
    *state = peer;
    return 0;
}

static int tear_down(void **state)
{
    struct peer *peer = *state;
    if (peer->stream) {
        stream_close(peer->stream);
        while (!peer->closed)
            loop_run(peer->loop);
    }
    close(peer->listener);
    buf_release(&peer->received);
    loop_free(peer->loop);
    free(peer);
    return 0;
}

static int connect_to(struct peer *peer)
{
    node_connect_inside(peer->loop, NULL, NULL, peer->port, on_connected, peer);
    assert_false(peer->done);
    while (!peer->done)
        loop_run(peer->loop);
    assert_non_null(peer->stream);
    stream_start(peer->stream, &HANDLER, peer);
    int fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void each_direction_ends_separately(void **state)
{
    struct peer *peer = *state;
    int fd = connect_to(peer);
    char text[16] = "";
    stream_write(peer->stream, "question", 8);
    stream_shut(peer->stream);
    run_a_while(peer);
    assert_int_equal(read(fd, text, sizeof(text)), 8);
    assert_int_equal(read(fd, text, sizeof(text)), 0); /* our direction has ended */
    assert_int_equal(write(fd, "answer", 6), 6);
    close(fd);
    while (!peer->ended)
        loop_run(peer->loop);
    assert_string_equal(peer->received.data, "answer");
}

static void paused_stream_loses_no_bytes(void **state)
{
    struct peer *peer = *state;
    int fd = connect_to(peer);
    run_a_while(peer);
    stream_pause(peer->stream, true);
    run_a_while(peer);
    assert_int_equal(write(fd, "all of it", 9), 9);
    close(fd);
    run_a_while(peer);
    assert_false(peer->ended);
    assert_int_equal(peer->received.size, 0);
    stream_pause(peer->stream, false);
    while (!peer->ended)
        loop_run(peer->loop);
    assert_string_equal(peer->received.data, "all of it");
}

static void refused_connection_is_reported(void **state)
{
    struct peer *peer = *state;
    close(peer->listener);
    peer->listener = -1;
    node_connect_inside(peer->loop, NULL, NULL, peer->port, on_connected, peer);
    while (!peer->done)
        loop_run(peer->loop);
    assert_null(peer->stream);
    assert_int_equal(peer->err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(peer->err.message, "cannot connect to localhost:"));
}

/* If no process listens on 127.0.0.1, the next address is tried. The message is about the first. */
static void connect_inside_tries_localhost(void **state)
{
    struct peer *peer = *state;
    node_connect_inside(peer->loop, NULL, NULL, peer->port, on_connected, peer);
    while (!peer->done)
        loop_run(peer->loop);
    assert_non_null(peer->stream);
    stream_start(peer->stream, &HANDLER, peer);
    int fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    close(peer->listener);
    peer->listener = -1;
    peer->done = false;
    struct stream *first = peer->stream;
    node_connect_inside(peer->loop, NULL, NULL, peer->port, on_connected, peer);
    while (!peer->done)
        loop_run(peer->loop);
    assert_null(peer->stream);
    peer->stream = first;
    assert_int_equal(peer->err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(peer->err.message, "cannot connect to localhost:"));
    assert_non_null(strstr(peer->err.message, " in the pod: "));
    close(fd);
}

static void connect_inside_fails_for_a_missing_pod(void **state)
{
    struct peer *peer = *state;
    node_connect_inside(peer->loop, "/nonexistent", "10.244.1.2", 80, on_connected, peer);
    assert_false(peer->done);
    while (!peer->done)
        loop_run(peer->loop);
    assert_string_equal(peer->err.message, "the pod is not running");
}

static void invalid_port_is_reported(void **state)
{
    struct peer *peer = *state;
    node_connect_inside(peer->loop, NULL, NULL, 0, on_connected, peer);
    assert_false(peer->done);
    while (!peer->done)
        loop_run(peer->loop);
    assert_int_equal(peer->err.code, ERR_INVALID);
}

static void canceled_connection_is_not_reported(void **state)
{
    struct peer *peer = *state;
    node_connect_cancel(
        node_connect_inside(peer->loop, NULL, NULL, peer->port, on_connected, peer));
    node_connect_cancel(node_connect_inside(peer->loop, NULL, NULL, 0, on_connected, peer));
    run_a_while(peer);
    assert_false(peer->done);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_direction_ends_separately),         TEST(paused_stream_loses_no_bytes),
        TEST(refused_connection_is_reported),         TEST(connect_inside_tries_localhost),
        TEST(connect_inside_fails_for_a_missing_pod), TEST(invalid_port_is_reported),
        TEST(canceled_connection_is_not_reported)};
    (void)own_network_enter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

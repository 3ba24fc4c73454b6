/* Tests a connection that changes its protocol: bytes that were sent ahead are not lost, each side
 * learns of the other's end, and the server can close it. On a stream in memory and in virtual
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/http/connection.h"
#include "small_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct loop *loop;
    struct http_service service;
    struct memory_stream *peer;
    bool closed; /* the peer's connection is closed */
    struct stream *line;
    struct buf log; /* the calls that the upgrader got */
    int closed_count;
    bool close_at_once, later;
    struct http_exchange *held;
    struct loop_task task;
};

static void on_open(void *context)
{
    struct world *world = context;
    buf_append_str(&world->log, "open ");
}

static void on_data(void *context, const char *data, size_t size)
{
    struct world *world = context;
    buf_append(&world->log, data, size);
    buf_append_char(&world->log, ' ');
}

static void on_sent(void *context)
{
    struct world *world = context;
    buf_append_str(&world->log, "sent ");
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    buf_printf(&world->log, "end%s%s ", err ? ": " : "", err ? err->message : "");
    if (err)
        stream_close(world->line);
}

static void on_closed(void *context)
{
    struct world *world = context;
    buf_append_str(&world->log, "closed ");
    world->line = NULL;
}

static const struct stream_handler HANDLER = {on_open, on_data, on_sent, on_end, on_closed};

static void upgrade(struct world *world, struct http_exchange *exchange)
{
    const struct http_header header = {"X-Protocol", "v1", NULL};
    struct err err = ERR_INIT;
    assert_int_equal(http_upgrade(exchange, "line/1", &header, &world->line, &err), 0);
    assert_string_equal(exchange->request->path, "/line"); /* the request is still valid */
    stream_start(world->line, &HANDLER, world);
    if (world->close_at_once)
        stream_close(world->line);
    assert_string_equal(exchange->request->path, "/line");
}

static void on_task(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, task);
    upgrade(world, TAKE(world->held));
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    if (!str_eq(exchange->request->path, "/line")) {
        http_respond(exchange, 200, NULL, "ok", 2);
    } else if (world->later) {
        world->held = exchange;
        loop_defer(world->loop, &world->task);
    } else {
        upgrade(world, exchange);
    }
}

static void on_connection_closed(struct http_service *service)
{
    CONTAINER_OF(service, struct world, service)->closed_count++;
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 1700000000000);
    world->task.callback = on_task;
    world->service = small_service(world->loop, handler, world, on_connection_closed);
    buf_init(&world->log, 1 << 20);
    world->peer = memory_stream_new(world->loop, &world->closed);
    http_connection_new(&world->service, &world->peer->stream, "test:1");
    *state = world;
    return 0;
}

static void run(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
}

static int teardown(void **state)
{
    struct world *world = *state;
    if (!list_is_empty(&world->service.connections))
        http_connection_close(
            LIST_FIRST(&world->service.connections, struct http_connection, link));
    run(world);
    assert_true(world->closed);
    assert_int_equal(world->closed_count, 1);
    assert_int_equal(world->service.connection_count, 0);
    buf_release(&world->log);
    loop_free(world->loop);
    free(world);
    return 0;
}

#define ASK                                                                                        \
    "POST /line HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: line/1\r\n"                 \
    "Content-Length: 0\r\n\r\n"

#define NO_REQUEST "GET / HTTP/1.1"

static void say(struct world *world, const char *text)
{
    memory_stream_send(world->peer, text, strlen(text));
    run(world);
}

static void assert_log(struct world *world, const char *expected)
{
    assert_string_equal(world->log.data, expected);
    buf_clear(&world->log);
}

static void a_101_response_hands_over_the_connection(void **state)
{
    struct world *world = *state;
    for (int later = 0; later < 2; later++) {
        world->later = later;
        if (later) { /* a second connection */
            http_connection_close(
                LIST_FIRST(&world->service.connections, struct http_connection, link));
            run(world);
            world->closed_count = 0;
            buf_clear(&world->log);
            world->peer = memory_stream_new(world->loop, &world->closed);
            http_connection_new(&world->service, &world->peer->stream, "test:1");
        }
        say(world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n" ASK);
        const char *answer = strstr(world->peer->out.data, "HTTP/1.1 101 Switching Protocols\r\n");
        assert_non_null(answer);
        assert_non_null(strstr(answer, "\r\nConnection: Upgrade\r\n"));
        assert_non_null(strstr(answer, "\r\nUpgrade: line/1\r\n"));
        assert_non_null(strstr(answer, "\r\nX-Protocol: v1\r\n"));
        assert_null(strstr(answer, "Content-Length"));
        stream_write(world->line, "hello", 5);
        run(world);
        assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\nhello");
        say(world, NO_REQUEST);
        sim_loop_run_for(world->loop, 1000000); /* no HTTP timeout applies */
        assert_false(world->closed);
        assert_non_null(strstr(world->log.data, "open "));
        assert_non_null(strstr(world->log.data, NO_REQUEST));
    }
}

static void bytes_sent_ahead_are_delivered_first(void **state)
{
    struct world *world = *state;
    memory_stream_send(world->peer, ASK "ahead", strlen(ASK "ahead"));
    memory_stream_send_end(world->peer);
    run(world);
    assert_non_null(strstr(world->log.data, "open ahead "));
    assert_non_null(strstr(world->log.data, "ahead end ")); /* followed by its end */
    assert_false(world->closed);                            /* the server may still answer */
    stream_finish(world->line);
    run(world);
    assert_true(world->closed);
    assert_null(world->line);
}

static void a_pause_also_holds_bytes_sent_ahead(void **state)
{
    struct world *world = *state;
    memory_stream_send(world->peer, ASK "ahead", strlen(ASK "ahead"));
    sim_loop_run_for(world->loop, 0);
    while (!world->line)
        sim_loop_run_for(world->loop, 1);
    stream_pause(world->line, true);
    run(world);
    buf_clear(&world->log);
    say(world, "more");
    assert_log(world, "");
    stream_pause(world->line, false);
    run(world);
    assert_non_null(strstr(world->log.data, "more "));
}

static void the_server_closes_the_upgraded_connection(void **state)
{
    struct world *world = *state;
    say(world, ASK);
    buf_clear(&world->log);
    http_connection_close(LIST_FIRST(&world->service.connections, struct http_connection, link));
    assert_log(world, "end: the server is shutting down ");
    run(world);
    assert_log(world, "closed ");
    assert_true(world->closed);
}

static void the_peer_breaks_the_connection(void **state)
{
    struct world *world = *state;
    say(world, ASK);
    buf_clear(&world->log);
    memory_stream_break(world->peer);
    run(world);
    assert_log(world, "end: peer left closed ");
}

static void the_upgrader_closes_at_once(void **state)
{
    struct world *world = *state;
    world->close_at_once = true;
    say(world, ASK "ahead");
    assert_log(world, "closed ");
    assert_true(world->closed);
}

static void the_upgrader_may_shut_only_its_side(void **state)
{
    struct world *world = *state;
    say(world, ASK);
    stream_shut(world->line);
    assert_true(world->peer->shut);
    buf_clear(&world->log);
    say(world, "still heard");
    assert_log(world, "still heard ");
}

static void an_exchange_without_a_connection_is_not_upgraded(void **state)
{
    static const struct http_exchange_ops ops = {0};
    struct http_exchange exchange = {.ops = &ops};
    struct stream *line = NULL;
    struct err err = ERR_INIT;
    assert_true(http_upgrade(&exchange, "line/1", NULL, &line, &err) < 0);
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    assert_null(line);
    assert_false(exchange.ended);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_101_response_hands_over_the_connection),
        TEST(bytes_sent_ahead_are_delivered_first),
        TEST(a_pause_also_holds_bytes_sent_ahead),
        TEST(the_server_closes_the_upgraded_connection),
        TEST(the_peer_breaks_the_connection),
        TEST(the_upgrader_closes_at_once),
        TEST(the_upgrader_may_shut_only_its_side),
        cmocka_unit_test(an_exchange_without_a_connection_is_not_upgraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests how a server's connection ends: by a timeout, by the peer, by the server. On a stream in
 * memory and in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_connection_world.h"

#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <string.h>

/* ---- clocks ---------------------------------------------------------------------------------- */

static void a_slow_header_ends_in_408(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 19; i++) {
        say(world, i ? "a" : "GET /");
        sim_loop_run_for(world->loop, 90);
    }
    memory_stream_hold(world->peer, true);
    assert_false(world->closed);
    sim_loop_run_for(world->loop, 200);
    assert_non_null(strstr(heard(world), "the request's header took too long\n"));
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void a_slow_body_ends_in_408(void **state)
{
    struct world *world = *state;
    say(world, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    sim_loop_run_for(world->loop, 2500);
    say(world, "abc");
    assert_false(world->closed);
    memory_stream_hold(world->peer, true);
    sim_loop_run_for(world->loop, 1000);
    assert_non_null(strstr(heard(world), "the request's body took too long\n"));
    assert_int_equal(world->requests, 0);
}

static void a_silent_connection_is_closed(void **state)
{
    struct world *world = *state;
    sim_loop_run_for(world->loop, 1900);
    assert_false(world->closed);
    sim_loop_run_for(world->loop, 200);
    assert_true(world->closed);
}

static void the_timeout_between_requests_is_longer(void **state)
{
    struct world *world = *state;
    say(world, GET("/none"));
    sim_loop_run_for(world->loop, 49000);
    assert_false(world->closed);
    say(world, GET("/none"));
    assert_int_equal(world->requests, 2);
    sim_loop_run_for(world->loop, 50001);
    assert_true(world->closed);
}

static void a_response_may_take_any_time(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    sim_loop_run_for(world->loop, 24 * 3600 * 1000);
    http_write(world->held, "late", 4);
    http_end(world->held);
    run(world);
    assert_non_null(strstr(world->peer->out.data, "late"));
}

/* ---- peers that leave ------------------------------------------------------------------------ */

static void a_disconnected_watcher_is_detected(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    memory_stream_send_end(world->peer);
    run(world);
    assert_int_equal(world->cancelled, 1);
    assert_true(world->closed);
}

static void a_disconnect_is_detected_behind_unread_requests(void **state)
{
    struct world *world = *state;
    char ahead[200000];
    memset(ahead, 'x', sizeof(ahead));
    say(world, GET("/stream"));
    world->peer->piece = 1000;
    memory_stream_send(world->peer, ahead, sizeof(ahead));
    run(world);
    assert_true(world->peer->paused);
    assert_true(world->peer->in.size > 100000);
    memory_stream_send_end(world->peer);
    run(world);
    assert_int_equal(world->cancelled, 1);
    assert_true(world->closed);
}

static void a_half_closed_connection_gets_its_responses(void **state)
{
    struct world *world = *state;
    say(world, GET("/hold") GET("/none"));
    memory_stream_send_end(world->peer);
    run(world);
    assert_false(world->closed);
    memory_stream_hold(world->peer, true);
    http_respond(world->held, 200, NULL, "late", 4);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
                                      "HTTP/1.1 204 No Content\r\n\r\n");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void a_handler_may_respond_after_the_peer_disconnected(void **state)
{
    struct world *world = *state;
    say(world, GET("/hold"));
    memory_stream_break(world->peer);
    run(world);
    assert_true(world->closed);
    assert_int_equal(http_pending(world->held), 0);
    http_respond(world->held, 200, NULL, "late", 4);
}

static void closing_a_connection_cancels_its_request(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    http_connection_close(LIST_FIRST(&world->service.connections, struct http_connection, link));
    assert_int_equal(world->cancelled, 1);
    http_connection_close(LIST_FIRST(&world->service.connections, struct http_connection, link));
    run(world);
    assert_true(world->closed);
}

static void no_more_requests_are_read_if_the_peer_does_not_read(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    for (int i = 0; i < 100; i++)
        memory_stream_send(world->peer, GET("/big"), strlen(GET("/big")));
    run(world);
    assert_int_equal(world->requests, 1); /* its response exceeds the limit of 16 KiB */
    memory_stream_hold(world->peer, false);
    run(world);
    assert_int_equal(world->requests, 100);
    assert_false(world->closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slow_header_ends_in_408),
        TEST(a_slow_body_ends_in_408),
        TEST(a_silent_connection_is_closed),
        TEST(the_timeout_between_requests_is_longer),
        TEST(a_response_may_take_any_time),
        TEST(a_disconnected_watcher_is_detected),
        TEST(a_disconnect_is_detected_behind_unread_requests),
        TEST(a_half_closed_connection_gets_its_responses),
        TEST(a_handler_may_respond_after_the_peer_disconnected),
        TEST(closing_a_connection_cancels_its_request),
        TEST(no_more_requests_are_read_if_the_peer_does_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

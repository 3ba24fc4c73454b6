/* Tests a server's connection on a stream in memory and in virtual time: requests and their
 * responses, without a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_connection_world.h"

#include <stdio.h>
#include <string.h>

static void requests_are_answered_one_after_another(void **state)
{
    struct world *world = *state;
    world->peer->piece = 3;
    say(world, POST_ECHO("hello", "5"));
    assert_string_equal(heard(world), ECHOED("hello", "5"));
    say(world, POST_ECHO("again", "5"));
    assert_string_equal(heard(world), ECHOED("again", "5"));
    assert_false(world->closed);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct world *world = *state;
    for (int later = 0; later < 2; later++) {
        world->end_in_later_turn = later;
        say(world, POST_ECHO("1", "1") POST_ECHO("2", "1") POST_ECHO("3", "1"));
        assert_string_equal(heard(world), ECHOED("1", "1") ECHOED("2", "1") ECHOED("3", "1"));
    }
}

static void many_pipelined_requests_are_all_answered(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 1000; i++)
        memory_stream_send(world->peer, POST_ECHO("1", "1"), strlen(POST_ECHO("1", "1")));
    run(world);
    assert_int_equal(world->requests, 1000);
    assert_false(world->closed);
}

static void a_request_behind_a_stream_waits(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream") GET("/echo"));
    assert_string_equal(world->log, "/stream");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Transfer-Encoding: chunked\r\n\r\n");
    http_write(world->held, "event", 5);
    run(world);
    assert_string_equal(heard(world), "5\r\nevent\r\n");
    assert_int_equal(world->drained, 2);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "0\r\n\r\n" ECHOED("", "0"));
}

static void the_http_version_decides_how_a_response_ends(void **state)
{
    struct world *world = *state;
    say(world, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n");
    memory_stream_hold(world->peer, true); /* keeps the response in the buffer */
    say(world, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    http_write(world->held, "event", 5);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Connection: close\r\n\r\nevent");
    run(world);
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void head_and_204_responses_have_no_body(void **state)
{
    struct world *world = *state;
    say(world, "HEAD /long HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    say(world, "HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    http_write(world->held, "event", 5);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    say(world, GET("/none"));
    assert_string_equal(heard(world), "HTTP/1.1 204 No Content\r\n\r\n");
    assert_false(world->closed);
}

static void a_header_value_cannot_begin_another_line(void **state)
{
    struct world *world = *state;
    say(world, GET("/evil"));
    assert_string_equal(heard(world), "HTTP/1.1 404 Not Found\r\nX-Evil: a  Set-Cookie: b\r\n"
                                      "Content-Length: 0\r\n\r\n");
}

static void a_wrong_content_length_does_not_harm_the_next_response(void **state)
{
    struct world *world = *state;
    say(world, GET("/long") GET("/none"));
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n123"
                                      "HTTP/1.1 204 No Content\r\n\r\n");
    say(world, GET("/short") GET("/none"));
    assert_true(world->closed);
    assert_string_equal(world->log, "/long/none/short");
}

static void a_client_that_expects_100_continue_gets_it(void **state)
{
    struct world *world = *state;
    say(world,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 100 Continue\r\n\r\n");
    say(world, "ok");
    assert_string_equal(heard(world), ECHOED("ok", "2"));
}

static void a_rejected_request_gets_the_reason_and_a_close(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    say(world, GET("/none") "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                            "Content-Length: 200001\r\n\r\n" GET("/none"));
    assert_string_equal(
        heard(world), "HTTP/1.1 204 No Content\r\n\r\n"
                      "HTTP/1.1 413 Content Too Large\r\n"
                      "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 47\r\n"
                      "Connection: close\r\n\r\nthe request's body is longer than 200000 bytes\n");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
    assert_string_equal(world->log, "/none");
}

static void connection_close_is_honoured(void **state)
{
    struct world *world = *state;
    say(world, "GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" GET("/echo"));
    assert_true(world->closed);
    assert_string_equal(world->log, "/none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_are_answered_one_after_another),
        TEST(pipelined_requests_are_answered_in_order),
        TEST(many_pipelined_requests_are_all_answered),
        TEST(a_request_behind_a_stream_waits),
        TEST(the_http_version_decides_how_a_response_ends),
        TEST(head_and_204_responses_have_no_body),
        TEST(a_header_value_cannot_begin_another_line),
        TEST(a_wrong_content_length_does_not_harm_the_next_response),
        TEST(a_client_that_expects_100_continue_gets_it),
        TEST(a_rejected_request_gets_the_reason_and_a_close),
        TEST(connection_close_is_honoured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

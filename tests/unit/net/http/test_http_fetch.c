/* Tests fetching one small document: accepted and rejected responses. */
#include "memory_stream.h"

#include "base/mem.h"
#include "base/str.h"
#include "loop/sim/sim_loop.h"
#include "net/http/fetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BODY_MAX = 100, TIMEOUT_MS = 3000 };

struct world {
    struct loop *loop;
    struct memory_stream *server;
    struct http_fetch *fetch;
    bool closed, done;
    int status;
    char body[BODY_MAX + 1];
    struct err err;
};

static void on_done(void *context, int status, const char *body, size_t size, const struct err *err)
{
    struct world *world = context;

    assert_false(world->done);
    world->done = true;
    world->status = status;
    if (err)
        world->err = *err;
    else if (size)
        memcpy(world->body, body, size);
}

static void begin(struct world *world)
{
    const struct http_fetch_options options = {.host = "mnist-chief-0",
                                               .path = "/progress",
                                               .body_max = BODY_MAX,
                                               .timeout_ms = TIMEOUT_MS};

    *world = (struct world){.loop = sim_loop_new(1, 0)};
    world->server = memory_stream_new(world->loop, &world->closed);
    world->fetch = http_fetch_start(world->loop, &world->server->stream, &options, on_done, world);
    sim_loop_run_for(world->loop, 10);
}

static void end(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
    assert_true(world->closed);
    loop_free(world->loop);
}

static void test_the_request(void **state)
{
    struct world world;

    begin(&world);
    assert_string_equal(world.server->out.data,
                        "GET /progress HTTP/1.1\r\nHost: mnist-chief-0\r\nUser-Agent: trainyard\r\n"
                        "Accept: application/json\r\nConnection: close\r\n\r\n");
    http_fetch_cancel(world.fetch);
    end(&world);
    assert_false(world.done);
}

struct row {
    const char *rule, *answer;
    bool then_ends; /* the server closes the connection */
    int status;     /* 0: an error */
    const char *body, *message;
};

static const struct row ROWS[] = {
    {"with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, "hello", ""},
    {"what follows is not read", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200",
     false, 200, "hello", ""},
    {"in chunks",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", false,
     200, "hello", ""},
    {"to the end of the line", "HTTP/1.0 200 OK\r\n\r\nhello", true, 200, "hello", ""},
    {"no body", "HTTP/1.1 204 No Content\r\n\r\n", false, 204, "", ""},
    {"another status", "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx", false, 404, "x", ""},
    {"first a word before it",
     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
     "2\r\n\r\nhi",
     false, 200, "hi", ""},
    {"cut", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", true, 0, "",
     "the response is not HTTP (stream ended at an unexpected time)"},
    {"nothing at all", "", true, 0, "",
     "the connection was closed before the response was complete"},
    {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", false, 0, "",
     "the response is not HTTP (invalid constant string)"},
    {"another protocol",
     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: "
     "upgrade\r\n\r\n",
     false, 0, "", "the server switched to another protocol"},
    {"as large as allowed",
     "HTTP/1.0 200 OK\r\n\r\n"
     "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
     "3"
     "456789",
     true, 200,
     "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
     "3"
     "456789",
     ""},
    {"too large",
     "HTTP/1.0 200 OK\r\n\r\n"
     "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
     "3"
     "4567890",
     true, 0, "", "the response is larger than 100 bytes"},
};

static void test_response(void **state)
{
    const struct row *row = *state;

    /* In one piece, and byte by byte. */
    for (size_t piece = 0; piece < 2; piece++) {
        struct world world;

        begin(&world);
        world.server->piece = piece;
        memory_stream_send(world.server, row->answer, strlen(row->answer));
        if (row->then_ends)
            memory_stream_send_end(world.server);
        sim_loop_run_for(world.loop, 1000);
        assert_true(world.done);
        assert_string_equal(world.err.message, row->message);
        assert_int_equal(world.status, row->status);
        assert_string_equal(world.body, row->body);
        end(&world);
    }
}

static void test_a_silent_server_times_out(void **state)
{
    struct world world;

    begin(&world);
    memory_stream_send(world.server, "HTTP/1.1 200", 12);
    sim_loop_run_for(world.loop, TIMEOUT_MS - 100);
    assert_false(world.done);
    sim_loop_run_for(world.loop, 200);
    assert_true(world.done);
    assert_int_equal(world.err.code, ERR_TIMEOUT);
    end(&world);
}

static void test_a_broken_connection_is_an_error(void **state)
{
    struct world world;

    begin(&world);
    memory_stream_break(world.server);
    sim_loop_run_for(world.loop, 100);
    assert_true(world.done);
    assert_int_not_equal(world.err.code, ERR_NONE);
    end(&world);
}

static void test_an_endless_header_is_an_error(void **state)
{
    struct world world;

    begin(&world);
    memory_stream_send(world.server, "HTTP/1.1 200 OK\r\n", 17);
    for (int i = 0; i < 2000; i++)
        memory_stream_send(world.server, "X-Long: 0123456789\r\n", 20);
    sim_loop_run_for(world.loop, 1000);
    assert_true(world.done);
    assert_string_equal(world.err.message, "the header of the response is longer than 16384 bytes");
    end(&world);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + 4];
    size_t count = 0;

    for (; count < ARRAY_SIZE(ROWS); count++)
        tests[count] = (struct CMUnitTest){.name = ROWS[count].rule,
                                           .test_func = test_response,
                                           .initial_state = (void *)&ROWS[count]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_the_request);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_a_silent_server_times_out);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_a_broken_connection_is_an_error);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_an_endless_header_is_an_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

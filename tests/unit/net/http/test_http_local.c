/* Tests the in-process transport in virtual time with many seeds: responses arrive whole and in
 * order, each end learns when the other ends, and no memory leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/sim/sim_loop.h"
#include "net/http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 30 };

struct world {
    struct loop *loop;
    struct http_transport *transport;
    /* the server's side */
    struct http_exchange *held; /* an exchange that the test answers */
    int cancelled, drained;
    struct loop_timer ticker;
    int ticks;
    /* the client's side */
    struct http_call *call;
    int status, ended;
    char type[64];
    struct buf body;
    int pieces; /* number of pieces in which the body arrived */
    struct err err;
    bool cancel_on_data, free_on_data;
    bool in_start;
};

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    world->held = NULL;
    loop_timer_stop(&world->ticker);
}

static void on_drain(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    assert_int_equal(http_pending(exchange), 0);
    world->drained++;
}

static void on_tick(struct loop_timer *timer)
{
    struct world *world = CONTAINER_OF(timer, struct world, ticker);
    char line[16];
    int size = snprintf(line, sizeof(line), "tick %d\n", world->ticks);
    http_write(world->held, line, (size_t)size);
    assert_true(http_pending(world->held) > 0);
    if (++world->ticks < 3)
        loop_timer_start(timer, 1000);
    else
        http_end(world->held);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    assert_false(world->in_start);
    exchange->context = world;
    assert_string_equal(request->peer, "in-process");
    if (strcmp(request->path, "/echo") == 0) {
        assert_string_equal(http_header_get(request->headers, "Authorization"), "Bearer secret");
        assert_string_equal(request->query, "x=1");
        http_respond(exchange, 201, "text/plain", request->body, request->body_size);
    } else if (strcmp(request->path, "/ticks") == 0) {
        exchange->on_cancel = on_cancel;
        exchange->on_drain = on_drain;
        world->held = exchange;
        http_begin(exchange, 200, "text/plain", NULL, -1);
        loop_timer_start(&world->ticker, 1000);
    } else { /* "/hold" and "/orphan" */
        if (strcmp(request->path, "/hold") == 0)
            exchange->on_cancel = on_cancel;
        world->held = exchange;
    }
}

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct world *world = context;
    assert_false(world->in_start);
    assert_int_equal(world->status, 0);
    world->status = status;
    snprintf(world->type, sizeof(world->type), "%s", http_header_get(headers, "content-type"));
}

static void on_data(void *context, const void *data, size_t size)
{
    struct world *world = context;
    assert_int_not_equal(world->status, 0);
    assert_int_equal(world->ended, 0);
    buf_append(&world->body, data, size);
    world->pieces++;
    if (world->cancel_on_data)
        http_cancel(world->transport, world->call);
    if (world->free_on_data)
        world->transport = http_transport_free(world->transport);
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    world->ended++;
    if (err)
        world->err = *err;
}

static const struct http_callbacks LISTENER = {on_head, on_data, on_end};

static void world_init(struct world *world, uint64_t seed)
{
    *world = (struct world){.loop = sim_loop_new(seed, 0)};
    world->transport = http_local_new(world->loop, handler, world, "secret");
    loop_timer_init(world->loop, &world->ticker, on_tick);
    buf_init(&world->body, 1 << 20);
}

static void world_release(struct world *world)
{
    http_transport_free(world->transport);
    buf_release(&world->body);
    loop_free(world->loop);
}

static void start(struct world *world, const char *method, const char *path, const char *body,
                  int64_t timeout_ms)
{
    char *copy = mem_strdup(body);
    struct http_request request = {
        .method = method, .path = path, .query = "x=1", .body = copy, .body_size = strlen(body)};
    world->in_start = true;
    world->call = http_start(world->transport, &request, timeout_ms, &LISTENER, world);
    world->in_start = false;
    free(copy);
}

#define EACH_SEED                                                                                  \
    struct world world;                                                                            \
    for (uint64_t seed = 0; seed < SEEDS && (world_init(&world, seed), true);                      \
         world_release(&world), seed++)

static void a_response_arrives(void **state)
{
    EACH_SEED
    {
        start(&world, "POST", "/echo", "hello", 5000);
        loop_run(world.loop);
        assert_int_equal(world.status, 201);
        assert_string_equal(world.type, "text/plain");
        assert_string_equal(world.body.data, "hello");
        assert_int_equal(world.ended, 1);
        assert_int_equal(world.err.code, ERR_NONE);
    }
}

/* A long answer is given in pieces, one per turn, so that other tasks run in between. */
static void a_long_response_arrives_in_pieces(void **state)
{
    enum { SIZE = 200 * 1000 };
    _cleanup_free_ char *long_ = mem_zalloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++)
        long_[i] = (char)('a' + i % 23);
    EACH_SEED
    {
        world.cancel_on_data = seed % 3 == 1;
        world.free_on_data = seed % 3 == 2;
        start(&world, "POST", "/echo", long_, 5000);
        loop_run(world.loop);
        if (seed % 3 == 0) {
            assert_true(world.pieces > 1);
            assert_string_equal(world.body.data, long_);
            assert_int_equal(world.ended, 1);
        } else {
            assert_int_equal(world.pieces, 1);
            assert_memory_equal(world.body.data, long_, world.body.size);
            assert_int_equal(world.ended, 0);
        }
    }
}

static void a_head_response_has_no_body(void **state)
{
    EACH_SEED
    {
        start(&world, "HEAD", "/echo", "hello", 0);
        loop_run(world.loop);
        assert_int_equal(world.status, 201);
        assert_int_equal(world.body.size, 0);
        assert_int_equal(world.ended, 1);
    }
}

static void a_stream_arrives_in_order_and_reports_drains(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/ticks", "", 0);
        sim_loop_run_for(world.loop, 1500);
        assert_string_equal(world.body.data, "tick 0\n");
        assert_int_equal(world.ended, 0);
        loop_run(world.loop);
        assert_string_equal(world.body.data, "tick 0\ntick 1\ntick 2\n");
        assert_int_equal(world.drained, 2);
        assert_int_equal(world.ended, 1);
        assert_int_equal(world.cancelled, 0);
    }
}

static void a_cancel_reaches_the_handler(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/ticks", "", 0);
        sim_loop_run_for(world.loop, 1500);
        http_cancel(world.transport, world.call);
        assert_int_equal(world.cancelled, 0);
        loop_run(world.loop);
        assert_int_equal(world.cancelled, 1);
        assert_int_equal(world.ended, 0);
        assert_string_equal(world.body.data, "tick 0\n");
    }
}

static void a_call_may_be_cancelled_before_it_is_handled(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/hold", "", 0);
        http_cancel(world.transport, world.call);
        loop_run(world.loop);
        assert_null(world.held);
        assert_int_equal(world.ended + world.cancelled, 0);
    }
}

static void a_callback_may_cancel_or_free(void **state)
{
    EACH_SEED
    {
        world.cancel_on_data = seed % 2;
        world.free_on_data = !world.cancel_on_data;
        start(&world, "GET", "/ticks", "", 0);
        loop_run(world.loop);
        assert_int_equal(world.cancelled, 1);
        assert_int_equal(world.ended, 0);
        assert_string_equal(world.body.data, "tick 0\n");
    }
}

static void a_timeout_ends_call_and_exchange(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/hold", "", 250);
        loop_run(world.loop);
        assert_int_equal(world.ended, 1);
        assert_int_equal(world.err.code, ERR_TIMEOUT);
        assert_string_equal(world.err.message, "GET /hold: no complete response within 250 ms");
        assert_int_equal(world.cancelled, 1);
        assert_int_equal(loop_now_ms(world.loop), 250);
    }
}

static void a_handler_may_respond_after_a_cancel(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/orphan", "", 0);
        loop_run(world.loop);
        if (seed % 2)
            http_cancel(world.transport, world.call);
        else
            world.transport = http_transport_free(world.transport);
        loop_run(world.loop);
        assert_non_null(world.held);
        http_respond(world.held, 200, "text/plain", "late", 4);
        loop_run(world.loop);
        assert_int_equal(world.ended + world.status, 0);
    }
}

static void freeing_the_transport_cancels_exchanges_at_once(void **state)
{
    EACH_SEED
    {
        start(&world, "GET", "/ticks", "", 0);
        sim_loop_run_for(world.loop, 500);
        if (seed % 2)
            http_cancel(world.transport, world.call);
        world.transport = http_transport_free(world.transport);
        assert_int_equal(world.cancelled, 1);
        loop_run(world.loop);
        assert_int_equal(world.ended, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_arrives),
        cmocka_unit_test(a_long_response_arrives_in_pieces),
        cmocka_unit_test(a_head_response_has_no_body),
        cmocka_unit_test(a_stream_arrives_in_order_and_reports_drains),
        cmocka_unit_test(a_cancel_reaches_the_handler),
        cmocka_unit_test(a_call_may_be_cancelled_before_it_is_handled),
        cmocka_unit_test(a_callback_may_cancel_or_free),
        cmocka_unit_test(a_timeout_ends_call_and_exchange),
        cmocka_unit_test(a_handler_may_respond_after_a_cancel),
        cmocka_unit_test(freeing_the_transport_cancels_exchanges_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

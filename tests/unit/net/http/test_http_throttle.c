/* Tests the throttling transport in virtual time: when each call reaches the server, and in which
 * order. */
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
#include "net/http/prometheus.h"
#include "net/http/throttle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 40, ANSWER_MS = 100 };

struct world;

struct server_call {
    struct world *world;
    struct http_exchange *exchange; /* NULL: answered, or canceled by its client */
    struct loop_timer timer;
};

struct world {
    struct loop *loop;
    struct http_transport *inner, *throttle;
    struct prometheus *metrics;
    struct server_call served[CALLS];
    int64_t arrived_ms[CALLS]; /* by the number in the path; -1: not yet */
    int order[CALLS];          /* the numbers in the order of arrival */
    size_t arrivals, under_way, most_under_way, refusals;
    struct http_call *calls[CALLS];
    int ended[CALLS];
    bool free_on_end, cancel_all_on_end;
};

static void on_cancel(struct http_exchange *exchange)
{
    struct server_call *served = exchange->context;
    served->world->under_way--;
    loop_timer_stop(&served->timer);
    served->exchange = NULL;
}

static void on_answer(struct loop_timer *timer)
{
    struct server_call *served = CONTAINER_OF(timer, struct server_call, timer);
    struct http_exchange *exchange = TAKE(served->exchange);
    served->world->under_way--;
    if (served->world->refusals && served == &served->world->served[0]) {
        struct http_header later = {"Retry-After", "3", NULL};
        served->world->refusals--;
        http_begin(exchange, 429, "text/plain", &later, 0);
        http_end(exchange);
        return;
    }
    http_respond(exchange, 200, "text/plain", "x", 1);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    int number = atoi(exchange->request->path + 1);
    assert_in_range(number, 0, CALLS - 1);
    assert_memory_equal(exchange->request->body, "body", exchange->request->body_size);
    world->arrived_ms[number] = loop_now_ms(world->loop);
    world->order[world->arrivals++] = number;
    if (++world->under_way > world->most_under_way)
        world->most_under_way = world->under_way;
    struct server_call *served = &world->served[number];
    served->world = world;
    served->exchange = exchange;
    exchange->context = served;
    exchange->on_cancel = on_cancel;
    loop_timer_init(world->loop, &served->timer, on_answer);
    loop_timer_start(&served->timer, ANSWER_MS);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 0);
    world->inner = http_local_new(world->loop, handler, world, NULL);
    world->metrics = prometheus_new();
    for (int i = 0; i < CALLS; i++)
        world->arrived_ms[i] = -1;
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    http_transport_free(world->throttle);
    http_transport_free(world->inner);
    prometheus_free(world->metrics);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void make_throttle(struct world *world, double rate, size_t burst, size_t calls_max)
{
    struct http_throttle_options options = {rate, burst, calls_max, world->metrics};
    world->throttle = http_throttle_new(world->loop, world->inner, &options);
}

struct ear {
    struct world *world;
    int number;
};

static struct ear ears[CALLS];

static void on_end(void *context, const struct err *err)
{
    struct ear *ear = context;
    struct world *world = ear->world;
    world->ended[ear->number]++;
    world->calls[ear->number] = NULL;
    if (world->free_on_end)
        world->throttle = http_transport_free(world->throttle);
    for (int i = 0; world->cancel_all_on_end && i < CALLS; i++)
        if (world->calls[i]) {
            http_cancel(world->throttle, world->calls[i]);
            world->calls[i] = NULL;
        }
}

static void start(struct world *world, int number, const char *method, const char *query)
{
    static const struct http_callbacks LISTENER = {.on_end = on_end};
    char path[16], body[8] = "body"; /* invalid when the call is sent */
    snprintf(path, sizeof(path), "/%d", number);
    struct http_request request = {
        .method = method, .path = path, .query = query, .body = body, .body_size = 4};
    ears[number] = (struct ear){world, number};
    world->calls[number] = http_start(world->throttle, &request, 0, &LISTENER, &ears[number]);
    memset(body, '?', sizeof(body));
}

static void a_rate_allows_a_burst_and_then_one_call_per_interval(void **state)
{
    struct world *world = *state;
    make_throttle(world, 10, 5, 0);
    for (int i = 0; i < 20; i++)
        start(world, i, "POST", "");
    loop_run(world->loop);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(world->ended[i], 1);
        if (i >= 5) /* the calls of a burst arrive in any order */
            assert_int_equal(world->order[i], i);
        int64_t due_ms = i < 5 ? 0 : (i - 4) * 100;
        assert_in_range(world->arrived_ms[i], due_ms, due_ms + 20);
    }
    /* After a silence there is one burst again, of the same size. */
    sim_loop_run_for(world->loop, 60000);
    int64_t now_ms = loop_now_ms(world->loop);
    for (int i = 20; i < 27; i++)
        start(world, i, "POST", "");
    loop_run(world->loop);
    assert_int_equal(world->arrived_ms[24], now_ms);
    assert_in_range(world->arrived_ms[26], now_ms + 200, now_ms + 220);
}

static void calls_in_flight_are_limited(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 3);
    for (int i = 0; i < 12; i++)
        start(world, i, "POST", "");
    assert_int_equal(http_throttle_waiting(world->throttle), 9);
    loop_run(world->loop);
    assert_int_equal(world->arrivals, 12);
    assert_int_equal(world->most_under_way, 3);
    assert_int_equal(world->arrived_ms[11], 3 * ANSWER_MS);
    for (int i = 0; i < 12; i++)
        assert_int_equal(world->order[i] / 3, i / 3);
}

static void all_calls_start_at_once_without_limits(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 0);
    for (int i = 0; i < CALLS; i++)
        start(world, i, "POST", "");
    loop_run(world->loop);
    assert_int_equal(world->most_under_way, CALLS);
}

static void a_watch_does_not_wait_but_counts_for_the_rate(void **state)
{
    struct world *world = *state;
    make_throttle(world, 10, 1, 1);
    start(world, 0, "POST", "");
    start(world, 1, "POST", "");
    start(world, 2, "GET", "watch=true&resourceVersion=4");
    loop_run(world->loop);
    assert_int_equal(world->arrived_ms[2], 0);
    assert_in_range(world->arrived_ms[1], 200, 220); /* not 100: the watch counts as a call, too */
}

static void a_cancelled_call_is_not_sent_and_frees_its_slot(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 1);
    for (int i = 0; i < 4; i++)
        start(world, i, "POST", "");
    sim_loop_run_for(world->loop, 10);
    http_cancel(world->throttle, world->calls[1]); /* a waiting call */
    http_cancel(world->throttle, world->calls[0]); /* a call in flight */
    loop_run(world->loop);
    assert_int_equal(world->arrivals, 3);
    assert_int_equal(world->arrived_ms[1], -1);
    assert_in_range(world->arrived_ms[2], 1, 20);
    assert_int_equal(world->ended[0] + world->ended[1], 0);
    assert_int_equal(world->ended[2] + world->ended[3], 2);
}

static void a_callback_that_cancels_all_calls_starts_none(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 2);
    world->cancel_all_on_end = true;
    for (int i = 0; i < 10; i++)
        start(world, i, "POST", "");
    loop_run(world->loop);
    assert_int_equal(world->arrivals, 2);
    assert_int_equal(world->ended[0] + world->ended[1], 1);
}

static void the_throttle_may_be_freed_in_a_callback(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 2);
    world->free_on_end = true;
    for (int i = 0; i < 10; i++)
        start(world, i, "POST", "");
    loop_run(world->loop);
    assert_null(world->throttle);
    assert_int_equal(world->under_way, 0);
    assert_int_equal(world->arrivals, 2);
}

static void retry_after_pauses_all_calls(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 1);
    world->refusals = 1;
    start(world, 0, "POST", "");
    start(world, 1, "POST", "");
    loop_run(world->loop);
    assert_int_equal(world->ended[0] + world->ended[1], 2);
    assert_int_equal(world->arrived_ms[1], ANSWER_MS + 3000);
}

static void requests_are_counted_by_code_and_method(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 0);
    world->refusals = 1;
    start(world, 0, "POST", "");
    start(world, 1, "POST", "");
    start(world, 2, "PROPFIND", "");
    start(world, 3, "GET", "watch=1");
    loop_run(world->loop);
    _cleanup_buf_ struct buf text;
    buf_init(&text, 10000);
    prometheus_write(world->metrics, &text);
    assert_non_null(strstr(text.data, "rest_client_requests_total{code=\"429\",method="));
    assert_non_null(strstr(text.data, "{code=\"200\",method=\"other\"} 1\n"));
    assert_non_null(strstr(text.data, "{code=\"200\",method=\"GET\"} 1\n"));
}

static void on_drained(void *context)
{
    struct world *world = context;
    assert_int_equal(world->ended[0] + world->ended[1], 2);
    world->throttle = http_transport_free(world->throttle);
}

static void draining_finishes_only_the_calls_in_flight(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 2);
    for (int i = 0; i < 6; i++)
        start(world, i, "POST", "");
    sim_loop_run_for(world->loop, 10);
    http_throttle_drain(world->throttle, on_drained, world);
    start(world, 6, "GET", "watch=true");
    loop_run(world->loop);
    assert_null(world->throttle); /* the callback has freed it */
    assert_int_equal(world->arrivals, 2);
}

static void draining_an_idle_throttle_ends_at_once(void **state)
{
    struct world *world = *state;
    make_throttle(world, 0, 0, 2);
    world->ended[0] = world->ended[1] = 1;
    http_throttle_drain(world->throttle, on_drained, world);
    assert_non_null(world->throttle); /* the callback does not run from within the call */
    loop_run(world->loop);
    assert_null(world->throttle);
}

static void retry_after_is_parsed(void **state)
{
    static const struct {
        const char *value;
        int64_t expected;
    } rows[] = {{"0", 0}, {"2", 2000}, {"99999999999", 7000}, {"-1", -1}, {"soon", -1}, {NULL, -1}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct http_header header = {"retry-after", rows[i].value, NULL};
        assert_int_equal(http_retry_after_ms(rows[i].value ? &header : NULL, 7000),
                         rows[i].expected);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rate_allows_a_burst_and_then_one_call_per_interval),
        TEST(calls_in_flight_are_limited),
        TEST(all_calls_start_at_once_without_limits),
        TEST(a_watch_does_not_wait_but_counts_for_the_rate),
        TEST(a_cancelled_call_is_not_sent_and_frees_its_slot),
        TEST(a_callback_that_cancels_all_calls_starts_none),
        TEST(the_throttle_may_be_freed_in_a_callback),
        TEST(retry_after_pauses_all_calls),
        TEST(requests_are_counted_by_code_and_method),
        TEST(draining_finishes_only_the_calls_in_flight),
        TEST(draining_an_idle_throttle_ends_at_once),
        cmocka_unit_test(retry_after_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

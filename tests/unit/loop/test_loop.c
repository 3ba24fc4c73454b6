/* Tests the contract of loop.h for both implementations, and threads, which only libuv has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/moment.h"
#include "loop/loop.h"
#include "loop/loop_turns.h"
#include "loop/signals.h"
#include "loop/sim/sim_loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct fixture {
    struct loop *loop;
    char log[256]; /* one letter per event */
    size_t length;
};

struct named_timer {
    struct loop_timer timer;
    struct fixture *fixture;
    char name;
    int again; /* how often it starts itself again */
    struct loop_timer *stops;
};

struct named_task {
    struct loop_task task;
    struct fixture *fixture;
    char name;
    struct named_task *defers, *cancels;
};

static void note(struct fixture *fixture, char name)
{
    assert_true(fixture->length + 1 < sizeof(fixture->log));
    fixture->log[fixture->length++] = name;
}

static void on_timer(struct loop_timer *timer)
{
    struct named_timer *named = CONTAINER_OF(timer, struct named_timer, timer);
    assert_false(timer->running);
    note(named->fixture, named->name);
    if (named->stops)
        loop_timer_stop(named->stops);
    if (named->again-- > 0)
        loop_timer_start(timer, 0);
}

static void on_task(struct loop_task *task)
{
    struct named_task *named = CONTAINER_OF(task, struct named_task, task);
    note(named->fixture, named->name);
    if (named->defers)
        loop_defer(named->fixture->loop, &named->defers->task);
    if (named->cancels)
        loop_defer_cancel(named->fixture->loop, &named->cancels->task);
}

static struct named_timer make_timer(struct fixture *fixture, char name)
{
    struct named_timer named = {.fixture = fixture, .name = name};
    loop_timer_init(fixture->loop, &named.timer, on_timer);
    return named;
}

static struct named_task make_task(struct fixture *fixture, char name)
{
    return (struct named_task){.task.callback = on_task, .fixture = fixture, .name = name};
}

static int setup_uv(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    struct err err = ERR_INIT;
    *state = fixture;
    return loop_new(&fixture->loop, &err);
}

static int setup_sim(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    *state = fixture;
    fixture->loop = sim_loop_new(11, 1000000);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    loop_free(fixture->loop);
    free(fixture);
    return 0;
}

static void run_returns_if_nothing_is_pending(void **state)
{
    struct fixture *fixture = *state;
    loop_run(fixture->loop);
    loop_run(fixture->loop);
}

static void timers_fire_in_order_of_due_time(void **state)
{
    struct fixture *fixture = *state;
    struct named_timer a = make_timer(fixture, 'a'), b = make_timer(fixture, 'b'),
                       c = make_timer(fixture, 'c');
    /* The times are far enough apart that a machine that stalls between two of these lines does not
     * change the order. */
    loop_timer_start(&c.timer, 600);
    loop_timer_start(&a.timer, 1);
    loop_timer_start(&b.timer, 300);
    int64_t start = loop_now_ms(fixture->loop);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "abc");
    assert_true(loop_now_ms(fixture->loop) - start >= 600);
}

static void a_timer_moves_stops_and_starts_again(void **state)
{
    struct fixture *fixture = *state;
    struct named_timer a = make_timer(fixture, 'a'), b = make_timer(fixture, 'b'),
                       c = make_timer(fixture, 'c'), d = make_timer(fixture, 'd');
    loop_timer_start(&a.timer, 3600000);
    loop_timer_start(&a.timer, 1);
    a.again = 2;
    a.stops = &c.timer;
    loop_timer_start(&b.timer, 600);
    loop_timer_start(&c.timer, 590);
    loop_timer_start(&d.timer, 3600000);
    loop_timer_stop(&d.timer);
    loop_timer_stop(&d.timer);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "aaab");
}

static void deferred_tasks_run_once_in_the_next_turn(void **state)
{
    struct fixture *fixture = *state;
    struct named_task a = make_task(fixture, 'a'), b = make_task(fixture, 'b'),
                      c = make_task(fixture, 'c');
    a.defers = &b;
    loop_defer(fixture->loop, &a.task);
    loop_defer(fixture->loop, &a.task);
    loop_defer(fixture->loop, &c.task);
    loop_defer_cancel(fixture->loop, &c.task);
    loop_defer_cancel(fixture->loop, &c.task);
    assert_int_equal(fixture->length, 0);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "ab");
}

static void a_task_may_cancel_a_task_of_the_same_turn(void **state)
{
    struct fixture *fixture = *state;
    struct named_task a = make_task(fixture, 'x'), b = make_task(fixture, 'x');
    a.cancels = &b;
    b.cancels = &a;
    loop_defer(fixture->loop, &a.task);
    loop_defer(fixture->loop, &b.task);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "x");
    assert_false(a.task.queued || b.task.queued);
}

static void on_stop_task(struct loop_task *task)
{
    struct named_task *named = CONTAINER_OF(task, struct named_task, task);
    loop_stop(named->fixture->loop);
}

static void stop_ends_the_run_but_not_the_timers(void **state)
{
    struct fixture *fixture = *state;
    struct named_timer a = make_timer(fixture, 'a');
    struct named_task stopper = make_task(fixture, 's');
    stopper.task.callback = on_stop_task;
    loop_timer_start(&a.timer, 20);
    loop_defer(fixture->loop, &stopper.task);
    loop_run(fixture->loop);
    assert_int_equal(fixture->length, 0);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "a");
}

struct sum_work {
    struct loop_work work;
    struct fixture *fixture;
    long input, output;
};

static void sum_do(struct loop_work *work)
{
    struct sum_work *sum = CONTAINER_OF(work, struct sum_work, work);
    for (long i = 1; i <= sum->input; i++)
        sum->output += i;
}

static void sum_done(struct loop_work *work)
{
    note(CONTAINER_OF(work, struct sum_work, work)->fixture, 'w');
}

static void work_is_done_and_reported_on_the_loop(void **state)
{
    struct fixture *fixture = *state;
    struct sum_work works[20];
    for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
        works[i] = (struct sum_work){
            .work = {.work = sum_do, .done = sum_done}, .fixture = fixture, .input = (long)i};
        loop_work_start(fixture->loop, &works[i].work);
    }
    assert_int_equal(fixture->length, 0);
    loop_run(fixture->loop);
    assert_int_equal(fixture->length, ARRAY_SIZE(works));
    for (size_t i = 0; i < ARRAY_SIZE(works); i++)
        assert_int_equal(works[i].output, works[i].input * (works[i].input + 1) / 2);
}

static void free_with_pending_work_leaks_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct named_timer timer = make_timer(fixture, 't');
    struct named_task task = make_task(fixture, 'd');
    struct sum_work sum = {
        .work = {.work = sum_do, .done = sum_done}, .fixture = fixture, .input = 10};
    loop_timer_start(&timer.timer, 3600000);
    loop_defer(fixture->loop, &task.task);
    loop_work_start(fixture->loop, &sum.work);
    fixture->loop = loop_free(fixture->loop);
}

/* ---- libuv only ------------------------------------------------------------------------------ */

enum { POSTERS = 4, POSTS = 500 };

struct poster {
    pthread_t thread;
    struct posts *posts;
    struct loop_task tasks[POSTS];
};

struct posts {
    struct loop *loop;
    struct loop_timer guard; /* keeps the loop running until all results have arrived */
    struct poster posters[POSTERS];
    size_t got;
};

static struct posts *all_posts;

static void on_posted(struct loop_task *task)
{
    if (++all_posts->got == (size_t)POSTERS * POSTS)
        loop_timer_stop(&all_posts->guard);
}

static void *post_all(void *argument)
{
    struct poster *poster = argument;
    for (size_t i = 0; i < POSTS; i++)
        loop_post(poster->posts->loop, &poster->tasks[i]);
    return NULL;
}

static void on_guard(struct loop_timer *timer)
{
    fail_msg("posts were lost");
}

static void posts_from_other_threads_all_arrive(void **state)
{
    struct fixture *fixture = *state;
    struct posts *posts = all_posts = mem_zalloc(sizeof(*posts));
    posts->loop = fixture->loop;
    loop_timer_init(fixture->loop, &posts->guard, on_guard);
    loop_timer_start(&posts->guard, 60000);
    for (size_t i = 0; i < POSTERS; i++) {
        posts->posters[i].posts = posts;
        for (size_t j = 0; j < POSTS; j++)
            posts->posters[i].tasks[j].callback = on_posted;
        pthread_create(&posts->posters[i].thread, NULL, post_all, &posts->posters[i]);
    }
    loop_run(fixture->loop);
    for (size_t i = 0; i < POSTERS; i++)
        pthread_join(posts->posters[i].thread, NULL);
    assert_int_equal(posts->got, POSTERS * POSTS);
    free(posts);
}

static void a_post_before_the_run_is_not_lost(void **state)
{
    struct fixture *fixture = *state;
    struct named_task a = make_task(fixture, 'a');
    loop_post(fixture->loop, &a.task);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "a");
}

static void on_signal(void *context, int number)
{
    struct fixture *fixture = context;
    note(fixture, number == SIGTERM ? 't' : 'i');
    loop_stop(fixture->loop);
}

static void signals_run_the_callback(void **state)
{
    struct fixture *fixture = *state;
    struct loop_signals *signals = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(loop_signals_new(fixture->loop, on_signal, fixture, &signals, &err), 0);
    struct named_timer guard = make_timer(fixture, 'x');
    loop_timer_start(&guard.timer, 60000);
    raise(SIGTERM);
    loop_run(fixture->loop);
    raise(SIGINT);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "ti");
    loop_timer_stop(&guard.timer);
    signals = loop_signals_free(signals);
}

/* A task that uses 30 ms of CPU time, more than one turn gives to deferred tasks. */
static void on_busy_task(struct loop_task *task)
{
    int64_t end_ns = moment_monotonic_ns() + 30 * 1000 * 1000;
    on_task(task);
    while (moment_monotonic_ns() < end_ns)
        continue;
}

static uint64_t count_turns(const struct loop_turn_histogram *histogram, size_t from)
{
    uint64_t count = 0;
    for (size_t i = from; i <= LOOP_TURN_BOUNDS; i++)
        count += histogram->buckets[i];
    return count;
}

static void tasks_beyond_a_turn_run_in_order_in_the_next_turn(void **state)
{
    struct fixture *fixture = *state;
    struct named_task tasks[3];
    for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
        tasks[i] = (struct named_task){.fixture = fixture, .name = (char)('a' + i)};
        tasks[i].task.callback = on_busy_task;
        loop_defer(fixture->loop, &tasks[i].task);
    }
    struct named_task late = {.task.callback = on_task, .fixture = fixture, .name = 'd'};
    struct named_task cancelled = {.task.callback = on_task, .fixture = fixture, .name = 'x'};
    tasks[0].defers = &late;
    tasks[1].cancels = &cancelled;
    loop_defer(fixture->loop, &cancelled.task);
    loop_run(fixture->loop);
    assert_string_equal(fixture->log, "abcd");
    /* There is one turn per busy task. Turns that wait for nothing are counted, too. */
    const struct loop_turns *turns = loop_turns(fixture->loop);
    assert_true(count_turns(&turns->wall, 0) >= 3);
    assert_int_equal(count_turns(&turns->cpu, 0), count_turns(&turns->wall, 0));
    assert_true(turns->wall.longest_s >= 0.03);
    assert_true(turns->wall.sum_s >= 0.09);
}

static void a_simulated_loop_counts_no_turns(void **state)
{
    struct fixture *fixture = *state;
    assert_null(loop_turns(fixture->loop));
}

static void a_turn_counts_in_the_smallest_bucket_that_fits(void **state)
{
    struct loop_turn_histogram histogram = {0};
    loop_turn_histogram_add(&histogram, 0);
    loop_turn_histogram_add(&histogram, 20 * 1000 * 1000);
    loop_turn_histogram_add(&histogram, 20 * 1000 * 1000 + 1);
    loop_turn_histogram_add(&histogram, INT64_C(60) * 1000 * 1000 * 1000);
    assert_int_equal(histogram.buckets[0], 1);
    assert_true(LOOP_TURN_BOUNDS_S[7] == 0.02);
    assert_int_equal(histogram.buckets[7], 1);
    assert_int_equal(histogram.buckets[8], 1);
    assert_int_equal(histogram.buckets[LOOP_TURN_BOUNDS], 1);
    assert_true(histogram.longest_s == 60);
}

int main(void)
{
#define BOTH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, setup_uv, teardown),                                     \
        cmocka_unit_test_setup_teardown(test, setup_sim, teardown)
    const struct CMUnitTest tests[] = {
        BOTH(run_returns_if_nothing_is_pending),
        BOTH(timers_fire_in_order_of_due_time),
        BOTH(a_timer_moves_stops_and_starts_again),
        BOTH(deferred_tasks_run_once_in_the_next_turn),
        BOTH(a_task_may_cancel_a_task_of_the_same_turn),
        BOTH(stop_ends_the_run_but_not_the_timers),
        BOTH(work_is_done_and_reported_on_the_loop),
        BOTH(free_with_pending_work_leaks_nothing),
        cmocka_unit_test_setup_teardown(posts_from_other_threads_all_arrive, setup_uv, teardown),
        cmocka_unit_test_setup_teardown(a_post_before_the_run_is_not_lost, setup_uv, teardown),
        cmocka_unit_test_setup_teardown(signals_run_the_callback, setup_uv, teardown),
        cmocka_unit_test_setup_teardown(tasks_beyond_a_turn_run_in_order_in_the_next_turn, setup_uv,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_simulated_loop_counts_no_turns, setup_sim, teardown),
        cmocka_unit_test(a_turn_counts_in_the_smallest_bucket_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

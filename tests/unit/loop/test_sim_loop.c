/* Tests virtual time: the same seed gives the same run, another seed gives another order, and hours
 * take no real time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "loop/sim/sim_loop.h"

#include <string.h>

enum { THINGS = 8 };

struct run {
    char log[4 * THINGS + 1];
    size_t length;
};

struct thing {
    struct loop_task task;
    struct loop_timer timer;
    struct loop_work work;
    struct run *run;
    char name;
};

static void note(struct run *run, char name)
{
    assert_true(run->length + 1 < sizeof(run->log));
    run->log[run->length++] = name;
}

static void on_task(struct loop_task *task)
{
    struct thing *thing = CONTAINER_OF(task, struct thing, task);
    note(thing->run, thing->name);
}

static void on_timer(struct loop_timer *timer)
{
    struct thing *thing = CONTAINER_OF(timer, struct thing, timer);
    note(thing->run, (char)(thing->name - 'a' + 'A'));
}

static void on_work(struct loop_work *work)
{
}

static void on_work_done(struct loop_work *work)
{
    struct thing *thing = CONTAINER_OF(work, struct thing, work);
    note(thing->run, (char)(thing->name - 'a' + '0'));
}

static struct run run_with_seed(uint64_t seed)
{
    struct run run = {0};
    struct loop *loop = sim_loop_new(seed, 0);
    struct thing things[THINGS];
    for (int i = 0; i < THINGS; i++) {
        things[i] = (struct thing){.task.callback = on_task,
                                   .work = {.work = on_work, .done = on_work_done},
                                   .run = &run,
                                   .name = (char)('a' + i)};
        loop_timer_init(loop, &things[i].timer, on_timer);
        loop_timer_start(&things[i].timer, 2);
        loop_defer(loop, &things[i].task);
        loop_work_start(loop, &things[i].work);
    }
    loop_run(loop);
    loop_free(loop);
    assert_int_equal(run.length, 3 * THINGS);
    return run;
}

static void the_same_seed_gives_the_same_run(void **state)
{
    struct run first = run_with_seed(1);
    assert_string_equal(first.log, run_with_seed(1).log);
    assert_string_not_equal(first.log, run_with_seed(2).log);
}

static void virtual_time_advances_by_the_requested_duration(void **state)
{
    enum { HOUR = 3600000 };
    struct run run = {0};
    struct loop *loop = sim_loop_new(3, 1700000000000);
    assert_int_equal(loop_wall_ms(loop), 1700000000000);
    struct thing thing = {.run = &run, .name = 'a'};
    loop_timer_init(loop, &thing.timer, on_timer);
    loop_timer_start(&thing.timer, 10 * HOUR);
    assert_true(sim_loop_run_for(loop, 9 * HOUR));
    assert_int_equal(loop_now_ms(loop), 9 * HOUR);
    assert_int_equal(run.length, 0);
    assert_false(sim_loop_run_for(loop, HOUR));
    assert_string_equal(run.log, "A");
    assert_int_equal(loop_wall_ms(loop), 1700000000000 + 10 * HOUR);
    loop_free(loop);
}

static void signals_and_libuv_are_unsupported(void **state)
{
    struct loop *loop = sim_loop_new(3, 0);
    struct loop_signals *signals = NULL;
    struct err err = ERR_INIT;
    assert_null(loop_uv(loop));
    assert_int_equal(loop_signals_new(loop, NULL, NULL, &signals, &err), -ERR_UNSUPPORTED);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(virtual_time_advances_by_the_requested_duration),
        cmocka_unit_test(signals_and_libuv_are_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

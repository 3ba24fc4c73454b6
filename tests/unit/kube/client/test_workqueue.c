/* Tests the work queue in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/client/workqueue.h"
#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct loop *loop;
    struct workqueue *queue;
    char log[1024]; /* "key@ms " for each start of work */
    bool finish;    /* end the work at once */
    bool fail;
    bool free_queue;
    size_t running, most;
};

static void work(void *context, const char *key)
{
    struct world *world = context;
    size_t used = strlen(world->log);
    snprintf(world->log + used, sizeof(world->log) - used, "%s@%lld ", key,
             (long long)loop_now_ms(world->loop));
    world->running++;
    if (world->running > world->most)
        world->most = world->running;
    if (world->finish) {
        world->running--;
        workqueue_done(world->queue, key, world->fail);
        assert_true(strlen(key) > 0); /* the key is still valid */
    }
    if (world->free_queue)
        world->queue = workqueue_free(world->queue);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(7, 0);
    world->queue = workqueue_new(world->loop, 2, work, world);
    world->finish = true;
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    workqueue_free(world->queue);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void each_key_is_processed_once(void **state)
{
    struct world *world = *state;
    workqueue_add(world->queue, "a");
    workqueue_add(world->queue, "b");
    workqueue_add(world->queue, "a");
    assert_int_equal(workqueue_length(world->queue), 2);
    assert_string_equal(world->log, ""); /* work does not start from within the call */
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 b@0 ");
    assert_int_equal(workqueue_length(world->queue), 0);
}

static void concurrent_work_is_limited(void **state)
{
    struct world *world = *state;
    world->finish = false;
    for (int i = 0; i < 5; i++)
        workqueue_add(world->queue, (char[]){(char)('a' + i), '\0'});
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 b@0 ");
    assert_int_equal(workqueue_length(world->queue), 3);
    world->running--;
    workqueue_done(world->queue, "b", false);
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 b@0 c@0 ");
    assert_int_equal(world->most, 2);
}

static void a_key_is_never_processed_twice_at_once(void **state)
{
    struct world *world = *state;
    world->finish = false;
    workqueue_add(world->queue, "a");
    loop_run(world->loop);
    workqueue_add(world->queue, "a");
    workqueue_add(world->queue, "a");
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 ");
    workqueue_done(world->queue, "a", false);
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 a@0 ");
    workqueue_done(world->queue, "a", false);
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 a@0 ");
}

static void the_earliest_delay_of_a_key_counts(void **state)
{
    struct world *world = *state;
    workqueue_add_after(world->queue, "a", 100);
    workqueue_add_after(world->queue, "a", 50);
    workqueue_add_after(world->queue, "a", 70);
    workqueue_add_after(world->queue, "b", 0);
    assert_int_equal(workqueue_length(world->queue), 1);
    loop_run(world->loop);
    assert_string_equal(world->log, "b@0 a@50 ");
    /* Work that is done now does not cancel a later timer. */
    workqueue_add_after(world->queue, "a", 10);
    workqueue_add(world->queue, "a");
    loop_run(world->loop);
    assert_string_equal(world->log, "b@0 a@50 a@50 a@60 ");
}

static void deferred_work_runs_again_later(void **state)
{
    struct world *world = *state;
    world->finish = false;
    workqueue_add(world->queue, "a");
    loop_run(world->loop);
    workqueue_defer(world->queue, "a", 40);
    assert_int_equal(workqueue_length(world->queue), 0);
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 a@40 ");
    /* A new item does not wait for the timer. */
    workqueue_defer(world->queue, "a", 40);
    workqueue_add(world->queue, "a");
    world->finish = true;
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 a@40 a@40 a@80 ");
}

static void retries_back_off_until_a_success(void **state)
{
    struct world *world = *state;
    world->fail = true;
    workqueue_add(world->queue, "a");
    sim_loop_run_for(world->loop, 40);
    assert_string_equal(world->log, "a@0 a@5 a@15 a@35 ");
    world->fail = false;
    loop_run(world->loop);
    assert_string_equal(world->log, "a@0 a@5 a@15 a@35 a@75 ");
    *world->log = '\0';
    world->fail = true;
    workqueue_add(world->queue, "a");
    sim_loop_run_for(world->loop, 10);
    assert_string_equal(world->log, "a@75 a@80 ");
    /* The delay stops growing at half a minute. */
    sim_loop_run_for(world->loop, 300 * 1000);
    *world->log = '\0';
    sim_loop_run_for(world->loop, 60 * 1000 - 1);
    assert_int_equal(strlen(world->log) > 0, 1);
    size_t starts = 0;
    for (const char *c = world->log; *c; c++)
        starts += *c == '@';
    assert_true(starts == 1 || starts == 2);
}

static void the_queue_may_be_freed_by_its_work(void **state)
{
    struct world *world = *state;
    world->free_queue = true;
    workqueue_add_after(world->queue, "z", 1000);
    workqueue_add(world->queue, "a");
    workqueue_add(world->queue, "b");
    loop_run(world->loop);
    assert_null(world->queue);
    assert_string_equal(world->log, "a@0 ");
    assert_int_equal(loop_now_ms(world->loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(each_key_is_processed_once),
        TEST(concurrent_work_is_limited),
        TEST(a_key_is_never_processed_twice_at_once),
        TEST(the_earliest_delay_of_a_key_counts),
        TEST(deferred_work_runs_again_later),
        TEST(retries_back_off_until_a_success),
        TEST(the_queue_may_be_freed_by_its_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

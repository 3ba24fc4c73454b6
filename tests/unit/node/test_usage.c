/* What is used: the kernel's texts, the rate between two samples, and who is answered when. */
#include "node_test.h"

#include "loop/sim/sim_loop.h"
#include "node/limits/usage.h"
#include "node/limits/usage_read.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Texts ---- */

static void test_texts(void **state)
{
    int64_t number;
    struct machine_memory memory;
    assert_true(usage_read_process_time(
        "7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 700 8000 20 0 1 0 9 9 9", &number));
    assert_int_equal(number, 8756);
    static const char *const NO_TIMES[] = {"", "7 (a", "7 (a) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 7"};
    for (size_t i = 0; i < ARRAY_SIZE(NO_TIMES); i++)
        assert_false(usage_read_process_time(NO_TIMES[i], &number));

    assert_true(usage_read_process_memory(
        "Name:\tRssAnon: 5\nVmRSS:\t 99 kB\nRssAnon:\t 12 kB\nRssFile:\t 7 kB\nRssShmem:\t 3 kB\n",
        &number));
    assert_int_equal(number, 15 * 1024);
    assert_false(usage_read_process_memory("Name:\tkthreadd\n", &number));

    assert_true(usage_read_machine_time("cpu  10 20 30 4000 500 6 7 8 9 0\ncpu0 1 1\n", &number));
    assert_int_equal(number, 73);
    assert_false(usage_read_machine_time("cpu  10 20\n", &number));

    assert_true(usage_read_machine_memory(
        "MemTotal: 1000 kB\nMemFree: 100 kB\nInactive: 400 kB\nInactive(file): 250 kB\n", &memory));
    assert_int_equal(memory.total_bytes, 1000 * 1024);
    assert_int_equal(memory.working_set_bytes, 650 * 1024);
    assert_false(usage_read_machine_memory("MemTotal: 1000 kB\n", &memory));
}

/* ---- Two samples ---- */

static void add(struct usage_sample *sample, const char *uid, const char *name, int64_t run,
                int64_t cpu_ns, int64_t memory)
{
    usage_sample_add(sample, uid, name, run, 0, &(struct cgroup_trees){0});
    sample->rows.items[sample->rows.count - 1].usage = (struct cgroup_usage){cpu_ns, memory};
}

static void test_rates(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct usage_sample before = {.taken_ns = 1000, .machine = {100, 0}};
    struct usage_sample after = {
        .taken_ns = 1000 + 2000000000, .wall_ms = 77, .machine = {100 + 3000000000, 9}};
    add(&before, "one", "a", 0, 500, 1);
    add(&before, "one", "b", 0, 4000000000, 1);
    add(&before, "gone", "a", 0, 1, 1);
    add(&after, "one", "a", 0, 500 + 1000000000, 2);
    add(&after, "one", "b", 1, 2000000, 3); /* restarted: counted from its start */
    add(&after, "two", "a", 0, 0, 4);
    struct engine_usage_report report;
    usage_compare(arena, &before, &after, &report);
    assert_int_equal(report.taken_ms, 77);
    assert_int_equal(report.window_ms, 2000);
    assert_int_equal(report.machine.cpu_nano, 1500000000);
    assert_int_equal(report.machine.memory_bytes, 9);
    assert_int_equal(report.count, 2);
    assert_string_equal(report.pods[0].uid, "one");
    assert_int_equal(report.pods[0].count, 2);
    assert_string_equal(report.pods[0].containers[1].name, "b");
    assert_int_equal(report.pods[0].containers[0].usage.cpu_nano, 500000000);
    assert_int_equal(report.pods[0].containers[0].usage.memory_bytes, 2);
    assert_int_equal(report.pods[0].containers[1].usage.cpu_nano, 1000000);
    assert_string_equal(report.pods[1].uid, "two");
    assert_int_equal(report.pods[1].containers[0].usage.cpu_nano, 0);
    usage_sample_release(&before);
    usage_sample_release(&after);
}

/* Without groups its processes are looked up by their namespace: here our own, in which we are. */
static void test_processes(void **state)
{
    struct usage_sample sample = {0};
    usage_sample_add(&sample, "one", "a", 0, getpid(), &(struct cgroup_trees){0});
    usage_sample_add(&sample, "one", "gone", 0, 0, &(struct cgroup_trees){0});
    usage_sample_finish(&sample);
    assert_true(sample.rows.items[0].usage.memory_bytes > 0);
    assert_int_equal(sample.rows.items[1].usage.memory_bytes, 0);
    assert_true(sample.machine.cpu_ns > 0);
    assert_true(sample.machine.memory_bytes >= sample.rows.items[0].usage.memory_bytes / 100);
    usage_sample_release(&sample);
}

/* ---- Who is answered when ---- */

struct world {
    struct loop *loop;
    struct usage_meter *meter;
    int samples, answers, refusals;
};

static void collect(void *context, struct usage_sample *sample)
{
    struct world *world = context;
    world->samples++;
}

static void answered(void *context, const struct engine_usage_report *report)
{
    struct world *world = context;
    if (report)
        world->answers++;
    else
        world->refusals++;
}

static void test_meter(void **state)
{
    struct world world = {.loop = sim_loop_new(1, 0)};
    world.meter = usage_meter_new(world.loop, collect, &world);
    sim_loop_run_for(world.loop, 3600 * 1000);
    assert_int_equal(world.samples, 0); /* nobody asks: nothing is measured */

    /* The first waits for a second sample; whoever joins shares it; who leaves is not told. */
    usage_meter_ask(world.meter, answered, &world);
    void *left = usage_meter_ask(world.meter, answered, &world);
    usage_meter_ask(world.meter, answered, &world);
    usage_meter_cancel(left);
    sim_loop_run_for(world.loop, 999);
    assert_int_equal(world.answers, 0);
    sim_loop_run_for(world.loop, 2);
    assert_int_equal(world.answers, 2);
    assert_int_equal(world.samples, 2);

    /* Soon after one sample is enough, at once; long after it takes two again. */
    sim_loop_run_for(world.loop, 5000);
    usage_meter_ask(world.meter, answered, &world);
    assert_int_equal(world.answers, 2); /* never from within the call */
    sim_loop_run_for(world.loop, 1);
    assert_int_equal(world.answers, 3);
    assert_int_equal(world.samples, 3);
    sim_loop_run_for(world.loop, 600 * 1000);
    usage_meter_ask(world.meter, answered, &world);
    sim_loop_run_for(world.loop, 1001);
    assert_int_equal(world.answers, 4);
    assert_int_equal(world.samples, 5);

    usage_meter_ask(world.meter, answered, &world);
    usage_meter_free(world.meter);
    assert_int_equal(world.answers, 4);
    assert_int_equal(world.refusals, 1);
    loop_free(world.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_meter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests resource usage: the kernel's files, the rate between two samples, and when each request is
 * answered. */
#include "node_test.h"

#include "loop/sim/sim_loop.h"
#include "node/limits/usage.h"
#include "node/limits/usage_read.h"
#include "node/pod/cpu_time.h"
#include "node/process/orphans.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Texts ---- */

static void test_kernel_files_are_parsed(void **state)
{
    int64_t number;
    struct machine_memory memory;
    assert_true(usage_read_process_memory(
        "Name:\tRssAnon: 5\nVmRSS:\t 99 kB\nRssAnon:\t 12 kB\nRssFile:\t 7 kB\nRssShmem:\t 3 kB\n",
        &number));
    assert_int_equal(number, 15 * 1024);
    assert_false(usage_read_process_memory("Name:\tkthreadd\n", &number));

    assert_true(usage_read_machine_time("cpu  10 20 30 4000 500 6 7 8 9 0\ncpu0 1 1\n", &number));
    assert_int_equal(number, 73);
    assert_false(usage_read_machine_time("cpu  10 20\n", &number));
    assert_false(usage_read_machine_time("cpu  9999999999999999999 20 30 4 5 6 7 8\n", &number));
    assert_false(usage_read_machine_time("cpu  -1 20 30 4 5 6 7 8\n", &number));

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
    const struct usage_row row = {
        .uid = (char *)uid, .name = (char *)name, .run = run, .usage = {cpu_ns, memory}};
    usage_sample_add(sample, &row);
}

static void test_rates_between_two_samples(void **state)
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

/* ---- Processes that no group counts. We are the supervisor. ---- */

enum { BURNT_MS = 200, HELD = 8 << 20, LIFE_SECONDS = 120 };

static const int64_t BURNT_NS = BURNT_MS * 1000000LL;

static void *volatile held; /* volatile, so that the compiler does not remove the writes to it */

static void burn_cpu_time(void)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < BURNT_NS);
}

/* Reports that it lives, and runs until it or its parent is killed. */
static void report_and_pause(int line) __attribute__((noreturn));
static void report_and_pause(int line)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIFE_SECONDS);
    if (write(line, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void await_report(int line)
{
    char byte;
    assert_int_equal(read(line, &byte, 1), 1);
}

/* Starts the first process of a container. Some of its children have burnt CPU time and ended, the
 * last one without being reaped. The others hold memory. */
static pid_t start_first(const int line[2], int burners, int holders)
{
    pid_t pid = fork();
    if (pid > 0) {
        for (int i = 0; i < holders + 1; i++)
            await_report(line[0]);
        return pid;
    }
    for (pid_t child; burners > 0; burners--) {
        if ((child = fork()) == 0) {
            burn_cpu_time();
            _exit(0);
        }
        waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | (burners == 1 ? WNOWAIT : 0));
    }
    for (; holders > 0; holders--)
        if (fork() == 0) {
            held = memset(mem_zalloc(HELD), 1, HELD);
            report_and_pause(line[1]);
        }
    report_and_pause(line[1]);
}

/* Starts a command beside the container, which burns CPU time. It is this program again, since a
 * mark counts only after execve(). */
static pid_t start_command(const int line[2], const char *mark)
{
    pid_t pid = fork();
    if (pid > 0) {
        await_report(line[0]);
        return pid;
    }
    char number[16], variable[64];
    snprintf(number, sizeof(number), "%d", line[1]);
    snprintf(variable, sizeof(variable), "%s=%s", ORPHANS_MARK, mark);
    execle("/proc/self/exe", "test", number, NULL, (char *[]){mark[0] ? variable : NULL, NULL});
    _exit(1);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void add_found(struct usage_sample *sample, const char *name, pid_t first, const char *mark)
{
    const struct usage_row row = {.uid = (char *)"one",
                                  .name = (char *)name,
                                  .mark = (char *)mark,
                                  .pid = first,
                                  .supervisor = getpid()};
    usage_sample_add(sample, &row);
}

/* Measures the usage of two containers. A third container is gone. */
static void measure_containers(struct cgroup_usage ret[2], const pid_t firsts[2],
                               const char *const marks[2])
{
    struct usage_sample sample = {0};
    for (int i = 0; i < 2; i++)
        add_found(&sample, i ? "b" : "a", firsts[i], marks[i]);
    add_found(&sample, "gone", 0, NULL);
    usage_sample_finish(&sample);
    ret[0] = sample.rows.items[0].usage;
    ret[1] = sample.rows.items[1].usage;
    assert_int_equal(sample.rows.items[2].usage.memory_bytes, 0);
    assert_int_equal(sample.rows.items[2].usage.cpu_ns, 0);
    assert_true(sample.machine.cpu_ns > 0);
    assert_true(sample.machine.memory_bytes > 0);
    usage_sample_release(&sample);
}

/* The CPU time of a process that only waits by now. Starting a program may take more than
 * burn_cpu_time(). */
static int64_t time_of(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &used), 0);
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

/* Compares with a tolerance, because the kernel counts in ticks. */
static void assert_time(int64_t expected_ns, int64_t actual_ns)
{
    assert_true(actual_ns > expected_ns - BURNT_NS / 2);
    assert_true(actual_ns < expected_ns + BURNT_NS / 2);
}

static void test_processes_by_mark(void **state)
{
    static const char *const MARKS[2] = {"/pods/one/a", "/pods/one/b"};
    struct cgroup_usage before[2], used[2];
    int line[2];
    assert_int_equal(pipe(line), 0);
    const pid_t firsts[2] = {start_first(line, 2, 1), start_first(line, 0, 0)};
    measure_containers(before, firsts, MARKS);
    assert_true(before[0].cpu_ns >= 2 * BURNT_NS - BURNT_NS / 2);
    assert_true(before[0].memory_bytes >= HELD);
    assert_time(time_of(firsts[1]), before[1].cpu_ns);
    assert_true(before[1].memory_bytes < HELD);

    /* A command belongs to the container whose mark it has. A command without a mark is counted
     * only if there is one container. */
    pid_t marked = start_command(line, MARKS[1]), unknown = start_command(line, "");
    measure_containers(used, firsts, MARKS);
    assert_time(before[0].cpu_ns, used[0].cpu_ns);
    assert_time(before[1].cpu_ns + time_of(marked), used[1].cpu_ns);
    end_child(firsts[0]);
    const pid_t alone[2] = {0, firsts[1]};
    measure_containers(used, alone, MARKS);
    assert_time(before[1].cpu_ns + time_of(marked) + time_of(unknown), used[1].cpu_ns);

    const pid_t all[] = {firsts[1], marked, unknown};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        end_child(all[i]);
    close(line[0]);
    close(line[1]);
}

/* In containers with namespaces, a command is recognized by its namespace. Here all processes are
 * in ours. */
static void test_processes_by_namespace(void **state)
{
    static const char *const NO_MARKS[2] = {NULL, NULL};
    struct cgroup_usage used[2];
    int line[2];
    assert_int_equal(pipe(line), 0);
    const pid_t firsts[2] = {start_first(line, 2, 1), 0};
    pid_t command = start_command(line, "");
    measure_containers(used, firsts, NO_MARKS);
    assert_true(used[0].cpu_ns >= 3 * BURNT_NS - BURNT_NS / 2);
    assert_true(used[0].memory_bytes >= HELD);
    end_child(command);
    end_child(firsts[0]);
    close(line[0]);
    close(line[1]);
}

/* If a container has ended, its PID may belong to another process. Neither that process nor its
 * siblings count. */
static void test_reused_pid_is_not_counted(void **state)
{
    struct usage_sample sample = {0};
    int line[2];
    assert_int_equal(pipe(line), 0);
    pid_t stranger = start_first(line, 1, 1);
    const struct usage_row row = {.uid = (char *)"one",
                                  .name = (char *)"a",
                                  .mark = (char *)"/pods/one/a",
                                  .pid = stranger,
                                  .supervisor = stranger};
    usage_sample_add(&sample, &row);
    usage_sample_finish(&sample);
    assert_int_equal(sample.rows.items[0].usage.cpu_ns, 0);
    assert_int_equal(sample.rows.items[0].usage.memory_bytes, 0);
    usage_sample_release(&sample);
    end_child(stranger);
    close(line[0]);
    close(line[1]);
}

/* The CPU time of a process that ended beside a container counts for the run that it belonged
 * to. */
static void test_cpu_time_is_stored_per_run(void **state)
{
    char directory[] = "/tmp/trainyard-spent-XXXXXX";
    assert_non_null(mkdtemp(directory));
    assert_int_equal(pod_cpu_time_load(directory, "main", 0), 0);
    pod_cpu_time_store(directory, "main", 0, 123456789012);
    assert_int_equal(pod_cpu_time_load(directory, "main", 0), 123456789012);
    assert_int_equal(pod_cpu_time_load(directory, "other", 0), 0);
    pod_cpu_time_store(directory, "main", 1, 5);
    assert_int_equal(pod_cpu_time_load(directory, "main", 1), 5);
    assert_int_equal(pod_cpu_time_load(directory, "main", 0), 0);

    /* An inotify watch on the pod's directory gets no event. */
    char event[4096];
    int watch = inotify_init1(IN_NONBLOCK);
    assert_true(inotify_add_watch(watch, directory, IN_ALL_EVENTS & ~(IN_ACCESS | IN_OPEN)) >= 0);
    pod_cpu_time_store(directory, "main", 1, 6);
    assert_int_equal(read(watch, event, sizeof(event)), -1);
    close(watch);
    assert_int_equal(file_remove_tree(directory, NULL), 0);
}

/* ---- When requests are answered ---- */

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

static void test_meter_answers_after_two_samples(void **state)
{
    struct world world = {.loop = sim_loop_new(1, 0)};
    world.meter = usage_meter_new(world.loop, collect, &world);
    sim_loop_run_for(world.loop, 3600 * 1000);
    assert_int_equal(world.samples, 0); /* without a request nothing is measured */

    /* The first request waits for a second sample. Later requests share it. A canceled request gets
     * no answer. */
    usage_meter_ask(world.meter, answered, &world);
    void *left = usage_meter_ask(world.meter, answered, &world);
    usage_meter_ask(world.meter, answered, &world);
    usage_meter_cancel(left);
    sim_loop_run_for(world.loop, 999);
    assert_int_equal(world.answers, 0);
    sim_loop_run_for(world.loop, 2);
    assert_int_equal(world.answers, 2);
    assert_int_equal(world.samples, 2);

    /* Soon after a sample, one more sample is enough. Long after it, two are needed again. */
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

int main(int argc, char **argv)
{
    if (argc == 2) { /* a command, see start_command() */
        burn_cpu_time();
        report_and_pause(atoi(argv[1]));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_files_are_parsed),
        cmocka_unit_test(test_rates_between_two_samples),
        cmocka_unit_test(test_processes_by_mark),
        cmocka_unit_test(test_processes_by_namespace),
        cmocka_unit_test(test_reused_pid_is_not_counted),
        cmocka_unit_test(test_cpu_time_is_stored_per_run),
        cmocka_unit_test(test_meter_answers_after_two_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

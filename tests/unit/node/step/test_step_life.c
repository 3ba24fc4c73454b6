/* Tests the states of a container's life, without a sandbox: its process just sleeps. */
#include "node_test.h"

#include "node/step/life.h"
#include "panic.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pod_spec pod;
static struct pod_container spec;
static struct container_state state_of_run;
static struct pod_state pod_state;
static struct container_run run;
static struct container_life life;

static void set_up(void)
{
    pod = (struct pod_spec){.grace_ms = 1000};
    spec = (struct pod_container){.name = "main", .restart = -1};
    state_of_run = (struct container_state){0};
    run = (struct container_run){.pod = &pod, .spec = &spec, .state = &state_of_run};
    life_init(&life, &run, &pod_state);
}

static void start_process(void)
{
    run.pid = fork();
    if (run.pid == 0) {
        pause();
        _exit(0);
    }
}

static int reap_process(void)
{
    int status = 0;
    assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
    run.pid = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int tear_down(void **state)
{
    pod_state_release(&pod_state);
    return 0;
}

static void container_runs_and_ends(void **state)
{
    set_up();
    start_process();
    life_begin(&life, 0);
    assert_int_equal(life.machine.state, LIFE_RUNNING);
    assert_int_equal(life.unwritten, LIFE_NEEDS_SYNC);
    assert_int_equal(state_of_run.phase, CONTAINER_RUNNING);
    assert_true(state_of_run.ready);
    life_end(&life, 1000, 10);
    assert_int_equal(life.machine.state, LIFE_TERMINATING);
    assert_int_equal(life.kill_at_ms, 1010);
    assert_int_equal(reap_process(), SIGTERM);
    life_over(&life);
    assert_int_equal(life.machine.state, LIFE_NONE);
    assert_false(state_of_run.ready);
    assert_false(life_was_killed_by_probe(&life));
}

/* A forced end sends no SIGTERM, but SIGKILL at once. */
static void container_is_ended_by_force(void **state)
{
    int64_t wake = INT64_MAX;
    set_up();
    spec.sidecar = true; /* a sidecar would wait for the others */
    start_process();
    life_begin(&life, 0);
    life_end(&life, 1000, 10);
    assert_int_equal(life.machine.state, LIFE_WAITING);
    life_end(&life, 0, 20);
    assert_int_equal(life.machine.state, LIFE_TERMINATING);
    life_advance(&life, 20, &wake);
    assert_int_equal(reap_process(), SIGKILL);
    life_over(&life);

    set_up(); /* also without an earlier stop request */
    start_process();
    life_begin(&life, 0);
    life_end(&life, 0, 20);
    life_advance(&life, 20, &wake);
    assert_int_equal(reap_process(), SIGKILL);
    life_over(&life);
}

/* A container may be stopped while its sandbox is still being created. */
static void container_ends_before_it_is_running(void **state)
{
    set_up();
    start_process();
    life_end(&life, 1000, 0);
    assert_int_equal(life.machine.state, LIFE_TERMINATING);
    life_begin(&life, 1);
    assert_int_equal(life.machine.state, LIFE_TERMINATING);
    assert_int_equal(reap_process(), SIGTERM);
    life_over(&life);
    assert_int_equal(life.machine.state, LIFE_NONE);
}

static void run_without_a_process(void)
{
    set_up();
    life_begin(&life, 0);
}

static void run_twice(void)
{
    set_up();
    run.pid = getpid();
    life_begin(&life, 0);
    life_begin(&life, 0);
}

static void wait_without_a_stop_request(void)
{
    set_up();
    run.pid = getpid();
    state_machine_move(&life.machine, LIFE_WAITING);
}

static void hook_without_a_handler(void)
{
    set_up();
    run.pid = getpid();
    state_machine_move(&life.machine, LIFE_POST_START);
}

static void forbidden_transitions_abort(void **state)
{
    expect_panic(run_without_a_process,
                 "container: moved from 'none' to 'running', where the container has no process");
    expect_panic(run_twice, "container: may not move from 'running' to 'running'");
    expect_panic(wait_without_a_stop_request,
                 "container: moved from 'none' to 'waiting', where the end has no cause");
    expect_panic(hook_without_a_handler,
                 "container: moved from 'none' to 'post-start', where no hook runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(container_runs_and_ends, tear_down),
        cmocka_unit_test_teardown(container_is_ended_by_force, tear_down),
        cmocka_unit_test_teardown(container_ends_before_it_is_running, tear_down),
        cmocka_unit_test_teardown(forbidden_transitions_abort, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the states of a pod's supervisor: which order leads to which state, and which transitions
 * are forbidden. */
#include "node_test.h"

#include "node/step/supervisor.h"
#include "panic.h"
#include "scratch_directory.h"

static struct supervisor supervisor; /* too large for the stack */

/* Sets up one container that waits for its start, and the supervisor in this state. */
static void set_up(enum supervisor_state state)
{
    pod_state_release(&supervisor.state);
    supervisor = (struct supervisor){0};
    supervisor_init(&supervisor, directory);
    pod_state_add(&supervisor.state, "main");
    if (state != SUPERVISOR_RESTORING)
        supervisor_move(&supervisor, SUPERVISOR_RUNNING);
    if (state == SUPERVISOR_PAUSED)
        supervisor_move(&supervisor, SUPERVISOR_PAUSING);
    if (state != SUPERVISOR_RESTORING)
        supervisor_move(&supervisor, state);
}

static void store_stop(const struct pod_stop *stop)
{
    static const char *const FILES[] = {"stop", "paused", "evicted", "deleted"};
    for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, FILES[i]);
        unlink(path);
    }
    assert_int_equal(pod_stop_store(directory, stop, NULL), 0);
}

static void stop_requests_change_the_state(void **state)
{
    static const struct pod_stop END = {.grace_ms = 1}, PAUSE = {.grace_ms = 1, .pause = true},
                                 EVICTION = {.grace_ms = 1, .pause = true, .reason = "Evicted"},
                                 DELETION = {.grace_ms = 1, .pause = true, .deleted = true};
    static const struct {
        enum supervisor_state before;
        const struct pod_stop *stop;
        bool is_from_control;
        enum supervisor_state after;
    } CASES[] = {
        {SUPERVISOR_RUNNING, &END, true, SUPERVISOR_ENDING},
        {SUPERVISOR_RUNNING, &PAUSE, true, SUPERVISOR_PAUSING},
        {SUPERVISOR_RUNNING, &EVICTION, true, SUPERVISOR_ENDING},
        {SUPERVISOR_RUNNING, &END, false, SUPERVISOR_SHUTDOWN},
        {SUPERVISOR_RUNNING, &EVICTION, false, SUPERVISOR_ENDING},
        {SUPERVISOR_ENDING, &END, false, SUPERVISOR_ENDING},
        {SUPERVISOR_ENDING, &PAUSE, true, SUPERVISOR_PAUSING},
        {SUPERVISOR_PAUSING, &END, true, SUPERVISOR_ENDING},
        {SUPERVISOR_PAUSING, &PAUSE, false, SUPERVISOR_PAUSING},
        {SUPERVISOR_PAUSING, &DELETION, true, SUPERVISOR_ENDING},
        {SUPERVISOR_ENDING, &DELETION, true, SUPERVISOR_ENDING},
        {SUPERVISOR_SHUTDOWN, &END, false, SUPERVISOR_SHUTDOWN},
        {SUPERVISOR_SHUTDOWN, &END, true, SUPERVISOR_ENDING},
        {SUPERVISOR_SHUTDOWN, &PAUSE, true, SUPERVISOR_PAUSING},
        {SUPERVISOR_PAUSED, &PAUSE, true, SUPERVISOR_PAUSED},
        {SUPERVISOR_PAUSED, &END, true, SUPERVISOR_ENDED},
        {SUPERVISOR_PAUSED, &DELETION, true, SUPERVISOR_ENDED},
        {SUPERVISOR_ENDED, &PAUSE, true, SUPERVISOR_ENDED},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        set_up(CASES[i].before);
        store_stop(CASES[i].stop);
        supervisor.lives[0].run = &supervisor.runs[0];
        supervisor_begin_stop(&supervisor, CASES[i].is_from_control);
        if (supervisor_state(&supervisor) != CASES[i].after)
            fail_msg("case %zu leads to '%s'", i, state_machine_name(&supervisor.machine));
    }
    pod_state_release(&supervisor.state);
}

static void start_after_the_end(void)
{
    set_up(SUPERVISOR_ENDED);
    supervisor_move(&supervisor, SUPERVISOR_RUNNING);
}

static void end_with_a_process(void)
{
    set_up(SUPERVISOR_ENDING);
    supervisor.runs[0].pid = 1;
    supervisor_move(&supervisor, SUPERVISOR_ENDED);
}

static void pause_with_an_ended_container(void)
{
    set_up(SUPERVISOR_PAUSING);
    supervisor.state.containers[0].phase = CONTAINER_TERMINATED;
    supervisor_move(&supervisor, SUPERVISOR_PAUSED);
}

static void pause_of_an_evicted_pod(void)
{
    set_up(SUPERVISOR_ENDING);
    str_copy(supervisor.state.reason, sizeof(supervisor.state.reason), "Evicted");
    supervisor_move(&supervisor, SUPERVISOR_PAUSING);
}

static void forbidden_transitions_abort(void **state)
{
    expect_panic(start_after_the_end, "supervisor: may not move from 'ended' to 'running'");
    expect_panic(end_with_a_process,
                 "supervisor: moved from 'ending' to 'ended', where a container still runs");
    expect_panic(
        pause_with_an_ended_container,
        "supervisor: moved from 'pausing' to 'paused', where no container is left to start");
    expect_panic(pause_of_an_evicted_pod,
                 "supervisor: moved from 'ending' to 'pausing', where the pod has a reason to end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_requests_change_the_state),
        cmocka_unit_test(forbidden_transitions_abort),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

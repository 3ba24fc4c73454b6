/* Tests which worker is reported as a straggler: the message after one minute, when it is not
 * repeated, and the summary at the end. */
#include "train/run/straggler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const int64_t SECOND = 1000000000;

static struct run_state_view view_of(struct run_state *state)
{
    struct run_state_view view;
    run_state_read(state, 1, &view);
    return view;
}

static void long_wait_in_a_minute_is_reported_once(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    struct straggler watch;
    char text[STRAGGLER_TEXT_MAX];
    run_state_waited(state, "worker 1", 500 * SECOND); /* from before the run */
    struct run_state_view view = view_of(state);
    straggler_begin(&watch, &view, 10 * SECOND);
    assert_false(straggler_is_due(&watch, 69 * SECOND));
    assert_true(straggler_is_due(&watch, 70 * SECOND));
    run_state_waited(state, "worker 1", 11 * SECOND);
    run_state_waited(state, "worker 2", 12 * SECOND + SECOND / 2);
    view = view_of(state);
    assert_true(straggler_check(&watch, &view, 70 * SECOND, text));
    assert_string_equal(text, "waited 12.5 s of the last 60 s for worker 2");
    assert_false(straggler_is_due(&watch, 129 * SECOND));
    run_state_waited(state, "worker 2", 13 * SECOND);
    view = view_of(state);
    assert_false(straggler_check(&watch, &view, 130 * SECOND, text)); /* already reported */
    run_state_waited(state, "worker 2", 11 * SECOND);
    view = view_of(state);
    assert_false(straggler_check(&watch, &view, 190 * SECOND, text)); /* a shorter wait */
    run_state_waited(state, "worker 2", 13 * SECOND);
    view = view_of(state);
    assert_true(straggler_check(&watch, &view, 250 * SECOND, text)); /* reported again */
}

static void slowest_worker_is_summarized_at_the_end(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    struct straggler watch;
    char text[STRAGGLER_TEXT_MAX];
    run_state_waited(state, "worker 1", 500 * SECOND);
    struct run_state_view view = view_of(state);
    straggler_begin(&watch, &view, SECOND);
    assert_false(straggler_summarize(&watch, &view, 61 * SECOND, text));
    run_state_waited(state, "chief 0", 2 * SECOND);
    run_state_waited(state, "worker 1", 3 * SECOND);
    view = view_of(state);
    assert_false(straggler_summarize(&watch, &view, 61 * SECOND, text));
    run_state_waited(state, "worker 1", SECOND);
    view = view_of(state);
    assert_true(straggler_summarize(&watch, &view, 61 * SECOND, text));
    assert_string_equal(text, "waited 4.0 s of 60.0 s for worker 1");
}

static void late_workers_over_the_limit_are_summed_as_others(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2 * RUN_STATE_TASKS_MAX; i++) {
            char task[RUN_STATE_TASK_MAX];
            snprintf(task, sizeof(task), "worker %d", i);
            run_state_waited(state, task, SECOND);
        }
    struct run_state_view view = view_of(state);
    assert_int_equal(view.late_count, RUN_STATE_TASKS_MAX);
    assert_string_equal(view.late[1].task, "worker 1");
    assert_true(view.late[1].seconds == 2);
    assert_string_equal(view.late[RUN_STATE_TASKS_MAX - 1].task, "others");
    assert_true(view.late[RUN_STATE_TASKS_MAX - 1].seconds == 2 * (RUN_STATE_TASKS_MAX + 1));
    run_state_waited(NULL, "worker 1", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_wait_in_a_minute_is_reported_once),
        cmocka_unit_test(slowest_worker_is_summarized_at_the_end),
        cmocka_unit_test(late_workers_over_the_limit_are_summed_as_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the state of a run: reported values are seen, from another thread as well, and values that
 * were never reported are not in the document. */
#include "base/mem.h"
#include "train/run/run_state.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int64_t SECOND = 1000000000;

static struct run_state_view read_state(struct run_state *state, int64_t now_ns)
{
    struct run_state_view view;
    run_state_read(state, now_ns, &view);
    return view;
}

static void steps_give_epoch_and_rate(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    run_state_begin(state, 10, 100, 4);
    struct run_state_view view = read_state(state, SECOND);
    assert_int_equal(view.step, 10);
    assert_int_equal(view.total, 100);
    assert_true(view.epoch == 2.5);
    assert_true(isnan(view.rate) && isnan(view.loss) && isnan(view.accuracy));
    run_state_step(state, 11, 0.75, 64, SECOND);
    assert_true(isnan(read_state(state, SECOND).rate)); /* a single time gives no rate */
    run_state_step(state, 12, 0.5, 64, 3 * SECOND);
    run_state_accuracy(state, 0.875);
    view = read_state(state, 3 * SECOND);
    assert_true(view.epoch == 3 && view.loss == 0.5 && view.rate == 32 && view.accuracy == 0.875);
    assert_int_equal(view.examples, 128);
}

static void waiting_time_is_measured_apart_from_the_rate(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    run_state_begin(state, 0, 10, 0);
    run_state_step(state, 1, 1, 10, SECOND);
    run_state_step(state, 2, 1, 10, 2 * SECOND);
    run_state_wait(state, "worker 1", 3 * SECOND);
    run_state_wait(state, "worker 1, worker 2", 4 * SECOND);
    struct run_state_view view = read_state(state, 6 * SECOND);
    assert_string_equal(view.waiting_for, "worker 1, worker 2");
    assert_true(view.waited == 3);
    run_state_lost(state);
    run_state_step(state, 3, 1, 10, 103 * SECOND);
    view = read_state(state, 200 * SECOND);
    assert_string_equal(view.waiting_for, "");
    assert_true(view.waited == 100);
    assert_true(view.rate == 10); /* unchanged */
    assert_int_equal(view.losses, 1);
    run_state_wait(state, "worker 1", 200 * SECOND);
    run_state_wait(state, NULL, 201 * SECOND);
    run_state_step(state, 4, 1, 10, 299 * SECOND);
    view = read_state(state, 300 * SECOND);
    assert_true(view.waited == 101 && view.rate == 10);
    char longer[2 * RUN_STATE_WAITING_MAX] = "";
    memset(longer, 'x', sizeof(longer) - 1);
    run_state_wait(state, longer, 300 * SECOND);
    assert_int_equal(strlen(read_state(state, 300 * SECOND).waiting_for),
                     RUN_STATE_WAITING_MAX - 1);
}

static void saved_checkpoints_are_counted(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    run_state_saved(state, 10);
    run_state_saved(state, 20);
    run_state_save_failed(state);
    struct run_state_view view = read_state(state, 0);
    assert_int_equal(view.saves, 2);
    assert_int_equal(view.saved, 20);
    assert_int_equal(view.failed_saves, 1);
}

static char *document_of(struct arena *arena, struct run_state *state)
{
    struct run_state_view view = read_state(state, SECOND);
    return json_to_string(arena, run_state_document(arena, &view));
}

static void document_has_only_known_values(void **unused)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    run_state_begin(state, 0, 8, 0);
    assert_string_equal(document_of(arena, state), "{\"step\":0,\"total\":8}");
    run_state_begin(state, 2, 8, 4);
    run_state_step(state, 3, (double)INFINITY, 1, 1);
    assert_string_equal(document_of(arena, state), "{\"step\":3,\"total\":8,\"epoch\":0.75}");
    run_state_step(state, 4, 0.5, 1, SECOND + 1);
    run_state_accuracy(state, 0.25);
    run_state_wait(state, "worker 1", SECOND + 2);
    assert_string_equal(document_of(arena, state),
                        "{\"step\":4,\"total\":8,\"epoch\":1.0,\"loss\":0.5,\"accuracy\":0.25,"
                        "\"rate\":1.0,\"waiting-for\":\"worker 1\"}");
}

/* A view is of one moment: here every value in it follows from the step. */
static void *read_repeatedly(void *argument)
{
    struct run_state *state = argument;
    struct run_state_view view;
    do {
        run_state_read(state, 0, &view);
        if (view.examples != 3 * view.step || (view.step && view.loss != (double)view.step))
            return (void *)"a view mixes two steps";
    } while (view.step < 20000);
    return NULL;
}

static void state_is_read_by_other_threads(void **unused)
{
    _cleanup_(cleanup_run_state) struct run_state *state = run_state_new();
    pthread_t threads[3];
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_repeatedly, state), 0);
    for (uint64_t step = 1; step <= 20000; step++)
        run_state_step(state, step, (double)step, 3, (int64_t)step);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
}

static void null_state_is_accepted(void **unused)
{
    run_state_begin(NULL, 0, 1, 0);
    run_state_step(NULL, 1, 1, 1, 1);
    run_state_accuracy(NULL, 1);
    run_state_wait(NULL, "x", 1);
    run_state_lost(NULL);
    run_state_saved(NULL, 1);
    run_state_save_failed(NULL);
    struct run_state_view view = read_state(NULL, 1);
    assert_int_equal(view.step, 0);
    assert_true(isnan(view.loss));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_give_epoch_and_rate),
        cmocka_unit_test(waiting_time_is_measured_apart_from_the_rate),
        cmocka_unit_test(saved_checkpoints_are_counted),
        cmocka_unit_test(document_has_only_known_values),
        cmocka_unit_test(state_is_read_by_other_threads),
        cmocka_unit_test(null_state_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

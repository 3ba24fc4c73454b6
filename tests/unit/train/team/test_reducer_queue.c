/* Tests sums in the background: they run in order, and more can follow after a wait. After a failed
 * sum the rest is skipped, and the error is reported once. */
#include "train/team/reducer_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct made {
    size_t counts[REDUCER_QUEUE_MAX * 4];
    int number, fail_at;
};

static int sum(void *context, float *data, size_t count, struct err *err)
{
    struct made *made = context;
    if (made->number == made->fail_at)
        return err_set(err, ERR_UNAVAILABLE, "lost worker %d", made->number);
    made->counts[made->number++] = count;
    data[0] += 1;
    return 0;
}

static void sums_run_in_order(void **state)
{
    struct made made = {.fail_at = -1};
    struct reducer_queue *queue = NULL;
    float data[1] = {0};
    struct err err = ERR_INIT;
    assert_int_equal(reducer_queue_new(sum, &made, &queue, &err), 0);
    assert_int_equal(reducer_queue_wait(queue, &err), 0); /* the queue is empty */
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < REDUCER_QUEUE_MAX; i++)
            reducer_queue_put(queue, data, 100 * (size_t)round + i);
        assert_int_equal(reducer_queue_wait(queue, &err), 0);
        assert_true(data[0] == (float)((round + 1) * REDUCER_QUEUE_MAX));
    }
    for (size_t i = 0; i < 4 * REDUCER_QUEUE_MAX; i++)
        assert_int_equal(made.counts[i], 100 * (i / REDUCER_QUEUE_MAX) + i % REDUCER_QUEUE_MAX);
    reducer_queue_free(queue);
}

static void sums_after_a_failure_are_skipped(void **state)
{
    struct made made = {.fail_at = 2};
    struct reducer_queue *queue = NULL;
    float data[1] = {0};
    struct err err = ERR_INIT;
    assert_int_equal(reducer_queue_new(sum, &made, &queue, &err), 0);
    for (size_t i = 0; i < 5; i++)
        reducer_queue_put(queue, data, i);
    assert_int_equal(reducer_queue_wait(queue, &err), -ERR_UNAVAILABLE);
    assert_string_equal(err.message, "lost worker 2");
    assert_int_equal(made.number, 2);
    made.fail_at = -1; /* the workers have formed a group again */
    reducer_queue_put(queue, data, 7);
    assert_int_equal(reducer_queue_wait(queue, &err), 0);
    assert_int_equal(made.counts[2], 7);
    reducer_queue_free(queue);
    assert_null(reducer_queue_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_run_in_order),
        cmocka_unit_test(sums_after_a_failure_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

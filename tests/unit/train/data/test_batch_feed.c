/* Tests batches that are prepared in advance: the same bits with any number of loaders and any
 * share. Also tests a share that changes, a repeated step, a jump, and a failure that is reported
 * at its step. Best run with a thread sanitizer. */
#include "train/data/batch_feed.h"

#include "base/mem.h"
#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 12, SAMPLE = 5, STEPS = 40 };

static struct err err;

struct source {
    atomic_uint_fast64_t fails_at; /* this step fails; 0: none */
    atomic_uint_fast64_t farthest; /* the highest requested step */
    atomic_int calls;
};

static int fill(void *context, uint64_t step, size_t first, size_t count, struct batch *batch,
                struct err *error)
{
    struct source *source = context;
    atomic_fetch_add(&source->calls, 1);
    uint64_t seen = atomic_load(&source->farthest);
    while (seen < step && !atomic_compare_exchange_weak(&source->farthest, &seen, step))
        ;
    if (step == atomic_load(&source->fails_at))
        return err_set(error, ERR_IO, "step %llu has no pictures", (unsigned long long)step);
    for (size_t i = 0; i < BATCH; i++)
        batch->labels[i] = (int)(step * 100 + i);
    for (size_t i = 0; i < count; i++) {
        struct rand rand;
        rand_init_keyed(&rand, 1, step, first + i);
        for (size_t k = 0; k < SAMPLE; k++)
            batch->inputs[i * SAMPLE + k] = (float)rand_unit(&rand);
    }
    return 0;
}

static struct batch_feed *open_feed(struct source *source, int loaders)
{
    struct batch_feed_options options = {
        .batch = BATCH, .sample = SAMPLE, .loaders = loaders, .context = source, .fill = fill};
    struct batch_feed *feed = NULL;
    assert_int_equal(batch_feed_new(&options, &feed, &err), 0);
    return feed;
}

static void assert_batch(struct batch_feed *feed, uint64_t step, size_t first, size_t count)
{
    struct source plain = {0};
    float inputs[BATCH * SAMPLE];
    int labels[BATCH];
    struct batch want = {inputs, labels};
    const struct batch *got = NULL;
    fill(&plain, step, first, count, &want, &err);
    assert_int_equal(batch_feed_take(feed, step, &got, &err), 0);
    assert_memory_equal(got->inputs, inputs, count * SAMPLE * sizeof(float));
    assert_memory_equal(got->labels, labels, sizeof(labels));
}

static void batches_are_the_same_for_any_number_of_loaders(void **state)
{
    (void)state;
    for (int loaders = 0; loaders <= 5; loaders++) {
        struct source source = {0};
        _cleanup_(cleanup_batch_feed) struct batch_feed *feed = open_feed(&source, loaders);
        batch_feed_share(feed, 4, 8);
        for (uint64_t step = 1; step <= STEPS; step++)
            assert_batch(feed, step, 4, 8);
        assert_true(atomic_load(&source.farthest) <= STEPS + (uint64_t)loaders);
    }
}

static void shares_can_change_and_steps_can_repeat(void **state)
{
    (void)state;
    for (int loaders = 0; loaders <= 3; loaders++) {
        struct source source = {0};
        _cleanup_(cleanup_batch_feed) struct batch_feed *feed = open_feed(&source, loaders);
        batch_feed_share(feed, 0, 6);
        for (uint64_t step = 7; step < 12; step++)
            assert_batch(feed, step, 0, 6);
        assert_batch(feed, 11, 0, 6); /* the step is redone */
        int calls = atomic_load(&source.calls);
        if (loaders == 0)
            assert_int_equal(calls, 5); /* the batch was still in memory */
        batch_feed_share(feed, 6, 3);   /* one worker more, so others take over */
        assert_batch(feed, 11, 6, 3);
        assert_batch(feed, 12, 6, 3);
        batch_feed_share(feed, 0, BATCH);
        assert_batch(feed, 13, 0, BATCH);
        assert_batch(feed, 3, 0, BATCH); /* back to an older state */
        assert_batch(feed, 4, 0, BATCH);
        assert_batch(feed, 400, 0, BATCH);
    }
}

static void failure_is_reported_at_its_step(void **state)
{
    (void)state;
    for (int loaders = 0; loaders <= 3; loaders++) {
        struct source source = {.fails_at = 3};
        _cleanup_(cleanup_batch_feed) struct batch_feed *feed = open_feed(&source, loaders);
        const struct batch *batch = NULL;
        batch_feed_share(feed, 0, 2);
        assert_batch(feed, 1, 0, 2);
        assert_batch(feed, 2, 0, 2);
        for (int i = 0; i < 2; i++) {
            err = ERR_INIT;
            assert_int_equal(batch_feed_take(feed, 3, &batch, &err), -ERR_IO);
            assert_string_equal(err.message, "step 3 has no pictures");
        }
        atomic_store(&source.fails_at, 0); /* the step succeeds again */
        assert_batch(feed, 3, 0, 2);
        assert_batch(feed, 4, 0, 2);
    }
}

static void unfinished_feed_can_be_freed(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct source source = {0};
        struct batch_feed *feed = open_feed(&source, 4);
        if (i % 3)
            batch_feed_share(feed, 0, BATCH);
        for (int step = 1; i % 3 && step <= i % 5; step++)
            assert_batch(feed, (uint64_t)step, 0, BATCH);
        assert_null(batch_feed_free(feed));
    }
    struct batch_feed *none = NULL;
    struct batch_feed_options options = {.loaders = BATCH_FEED_LOADERS_MAX + 1};
    assert_int_equal(batch_feed_new(&options, &none, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_the_same_for_any_number_of_loaders),
        cmocka_unit_test(shares_can_change_and_steps_can_repeat),
        cmocka_unit_test(failure_is_reported_at_its_step),
        cmocka_unit_test(unfinished_feed_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

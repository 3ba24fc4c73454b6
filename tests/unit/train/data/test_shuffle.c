/* Tests that every epoch shows every sample once, in its own order, which depends only on the
 * seed. */
#include "base/mem.h"
#include "train/data/shuffle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 97 };

static void every_epoch_has_every_sample_once(void **state)
{
    struct shuffle shuffle;
    shuffle_init(&shuffle, 3, COUNT);
    size_t order[4][COUNT];
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        bool seen[COUNT] = {false};
        for (size_t i = 0; i < COUNT; i++) {
            order[epoch][i] = shuffle_at(&shuffle, epoch * COUNT + i);
            assert_in_range(order[epoch][i], 0, COUNT - 1);
            assert_false(seen[order[epoch][i]]);
            seen[order[epoch][i]] = true;
        }
    }
    assert_memory_not_equal(order[0], order[1], sizeof(order[0]));
    assert_memory_not_equal(order[1], order[2], sizeof(order[0]));
    shuffle_release(&shuffle);
}

static void order_depends_only_on_the_seed(void **state)
{
    struct shuffle a, b, other;
    shuffle_init(&a, 5, COUNT);
    shuffle_init(&b, 5, COUNT);
    shuffle_init(&other, 6, COUNT);
    size_t different = 0;
    for (uint64_t i = 0; i < 3 * COUNT; i++) {
        uint64_t there = 3 * COUNT - 1 - i; /* positions are requested in any order */
        size_t first = shuffle_at(&a, i);
        (void)shuffle_at(&b, there);
        assert_int_equal(shuffle_at(&b, i), first);
        different += shuffle_at(&other, i) != first;
    }
    assert_true(different > COUNT);
    shuffle_release(&a);
    shuffle_release(&b);
    shuffle_release(&other);
}

static void single_sample_can_be_shuffled(void **state)
{
    struct shuffle shuffle;
    shuffle_init(&shuffle, 1, 1);
    assert_int_equal(shuffle_at(&shuffle, 12345678901234u), 0);
    shuffle_release(&shuffle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_has_every_sample_once),
        cmocka_unit_test(order_depends_only_on_the_seed),
        cmocka_unit_test(single_sample_can_be_shuffled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

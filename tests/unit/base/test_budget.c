/* Tests nested budgets: charges and refunds at each level, rejected charges, the largest child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/rand.h"

static void a_charge_counts_at_every_level(void **state)
{
    struct budget total, payer, connection;
    budget_init(&total, NULL, 100);
    budget_init(&payer, &total, 60);
    budget_init(&connection, &payer, SIZE_MAX);
    assert_null(budget_charge(&connection, 40));
    assert_int_equal(connection.used, 40);
    assert_int_equal(payer.used, 40);
    assert_int_equal(total.used, 40);
    budget_give_back(&connection, 30);
    assert_int_equal(total.used, 10);
    assert_int_equal(total.peak, 40);
    budget_release(&connection); /* gives back the rest */
    assert_int_equal(payer.used, 0);
    assert_true(list_is_empty(&payer.children));
    budget_release(&connection);
    budget_release(&payer);
    budget_release(&total);
}

/* A charge up to the limit succeeds. One byte more is rejected, and only the level that is full
 * counts the rejection. */
static void a_full_level_rejects_charges(void **state)
{
    struct budget total, a, b;
    budget_init(&total, NULL, 100);
    budget_init(&a, &total, 60);
    budget_init(&b, &total, 60);
    assert_null(budget_charge(&a, 60));
    assert_ptr_equal(budget_charge(&a, 1), &a);
    assert_null(budget_charge(&b, 40));
    assert_ptr_equal(budget_charge(&b, 1), &total);
    assert_ptr_equal(budget_charge(&b, SIZE_MAX), &b);
    assert_int_equal(a.used, 60);
    assert_int_equal(b.used, 40);
    assert_int_equal(total.used, 100);
    assert_int_equal(a.refused + b.refused + total.refused, 3);
    budget_force(&b, 50); /* past both limits: nothing more fits, but refunds work */
    assert_ptr_equal(budget_charge(&b, 0), &b);
    assert_ptr_equal(budget_charge(&a, 0), &total);
    budget_give_back(&b, 90);
    assert_null(budget_charge(&b, 40));
    budget_release(&a);
    budget_release(&b);
    assert_int_equal(total.used, 0);
    budget_release(&total);
}

static void the_largest_child_is_found(void **state)
{
    struct budget total, children[3];
    budget_init(&total, NULL, SIZE_MAX);
    assert_null(budget_largest(&total));
    for (int i = 0; i < 3; i++)
        budget_init(&children[i], &total, SIZE_MAX);
    assert_null(budget_largest(&total)); /* no child has a charge */
    budget_charge(&children[0], 5);
    budget_charge(&children[1], 9);
    budget_charge(&children[2], 7);
    assert_ptr_equal(budget_largest(&total), &children[1]);
    budget_give_back(&children[1], 3);
    assert_ptr_equal(budget_largest(&total), &children[2]);
    for (int i = 0; i < 3; i++)
        budget_release(&children[i]);
    budget_release(&total);
}

static void a_payer_lives_as_long_as_its_references(void **state)
{
    struct budget_group group;
    budget_group_init(&group, 100, 50);
    struct budget_payer *ann = budget_payer_ref(&group, "ann");
    struct budget_payer *bob = budget_payer_ref(&group, "bob");
    assert_ptr_equal(budget_payer_ref(&group, "ann"), ann);
    assert_null(budget_charge(&ann->budget, 50));
    assert_ptr_equal(budget_charge(&ann->budget, 1), &ann->budget);
    assert_null(budget_charge(&bob->budget, 10));
    assert_ptr_equal(budget_largest(&group.total), &ann->budget);
    assert_null(budget_payer_unref(ann));
    assert_int_equal(ann->budget.used, 50);
    assert_null(budget_payer_unref(ann));
    assert_int_equal(group.total.used, 10);
    assert_int_equal(group.payers.count, 1);
    budget_payer_unref(bob);
    budget_payer_unref(NULL);
    budget_group_release(&group);
}

/* After random charges and refunds each level has the sum of its children, and no charge exceeds a
 * limit. */
static void sums_hold_under_random_use(void **state)
{
    enum { PAYERS = 3, LEAVES = 12, STEPS = 20000 };
    struct budget total, payers[PAYERS], leaves[LEAVES];
    budget_init(&total, NULL, 5000);
    for (int i = 0; i < PAYERS; i++)
        budget_init(&payers[i], &total, 2500);
    for (int i = 0; i < LEAVES; i++)
        budget_init(&leaves[i], &payers[i % PAYERS], 1000);
    struct rand rand;
    rand_init(&rand, 7);
    for (int step = 0; step < STEPS; step++) {
        struct budget *leaf = &leaves[rand_below(&rand, LEAVES)];
        size_t size = rand_below(&rand, 400);
        if (rand_below(&rand, 2))
            budget_charge(leaf, size);
        else
            budget_give_back(leaf, size < leaf->used ? size : leaf->used);
        size_t sums[PAYERS] = {0}, sum = 0;
        for (int i = 0; i < LEAVES; i++)
            sums[i % PAYERS] += leaves[i].used;
        for (int i = 0; i < PAYERS; i++) {
            assert_int_equal(payers[i].used, sums[i]);
            assert_true(payers[i].used <= payers[i].max);
            sum += sums[i];
        }
        assert_int_equal(total.used, sum);
        assert_true(total.used <= total.max);
    }
    assert_true(total.refused + payers[0].refused + leaves[0].refused > 100);
    for (int i = 0; i < LEAVES; i++)
        budget_release(&leaves[i]);
    for (int i = 0; i < PAYERS; i++)
        budget_release(&payers[i]);
    assert_int_equal(total.used, 0);
    budget_release(&total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charge_counts_at_every_level),
        cmocka_unit_test(a_full_level_rejects_charges),
        cmocka_unit_test(the_largest_child_is_found),
        cmocka_unit_test(a_payer_lives_as_long_as_its_references),
        cmocka_unit_test(sums_hold_under_random_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests sums that do not depend on order and grouping, and how small their rounding error is. */
#include "random_floats.h"

#include "train/team/exact_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARTS = 12 };

static struct params *new_params(void)
{
    struct params *params = params_new();
    params_declare(params, "large", (int[]){100, 3, 1, 1}, PARAM_HE, 9);
    params_declare(params, "small", (int[]){37, 1, 1, 1}, PARAM_ZERO, 0);
    assert_int_equal(params_allocate(params, NULL), 0);
    return params;
}

/* Adds all parts by one worker, and by three workers in another order. The bits must be the
 * same. */
static void add_in_groups(const struct exact_sum *sum, const struct params *params,
                          float *const *parts, float *one, float *three, float *largest)
{
    for (int i = 0; i < PARTS; i++)
        exact_sum_add(sum, params, 0, params->count, parts[i], one, largest);
    for (int worker = 2; worker >= 0; worker--) {
        float *own = zero_floats(params->floats), *again = zero_floats(params->count);
        for (int i = worker; i < PARTS; i += 3)
            exact_sum_add(sum, params, 0, params->count, parts[i], own, again);
        for (size_t j = 0; j < params->floats; j++)
            three[j] += own[j];
        free(own), free(again);
    }
}

/* Returns how often parts of these magnitudes did not fit, so that they were added again. If they
 * fit, the sums must have the same bits. */
static int count_repeated_sums(const float *scales, int rounds)
{
    struct params *params = new_params();
    struct exact_sum sum;
    exact_sum_init(&sum, params);
    struct rand rand;
    rand_init(&rand, 3);
    int leaps = 0;
    for (int round = 0; round < rounds; round++) {
        float *parts[PARTS], *exact = zero_floats(params->floats);
        for (int i = 0; i < PARTS; i++) {
            parts[i] = random_floats(&rand, params->floats);
            for (size_t j = 0; j < params->floats; j++) {
                parts[i][j] *= (params->entries[1].offset <= j ? 1e-6f : 0.1f) * scales[round];
                exact[j] += parts[i][j];
            }
        }
        for (bool fits = false; !fits;) {
            float *one = zero_floats(params->floats), *three = zero_floats(params->floats),
                  *largest = zero_floats(params->count);
            add_in_groups(&sum, params, parts, one, three, largest);
            fits = exact_sum_fits(&sum, largest, params->count, PARTS);
            if (fits)
                assert_memory_equal(one, three, params->floats * sizeof(float));
            for (size_t i = 0;
                 fits && round > 0 && scales[round] == scales[round - 1] && i < params->count; i++)
                assert_true(apart(one + params->entries[i].offset,
                                  exact + params->entries[i].offset,
                                  params->entries[i].count) < 2e-4);
            exact_sum_learn(&sum, largest, params->count, PARTS);
            leaps += !fits;
            free(one), free(three), free(largest);
        }
        for (int i = 0; i < PARTS; i++)
            free(parts[i]);
        free(exact);
    }
    exact_sum_release(&sum);
    params_free(params);
    return leaps;
}

static void sum_is_bit_identical_for_any_grouping(void **state)
{
    /* Only the first round has no known quantum. Each tensor has its own quantum. */
    assert_int_equal(count_repeated_sums((float[]){1, 1, 1, 10, 1, 0.1f, 1}, 7), 1);
}

static void gradient_out_of_range_is_added_again(void **state)
{
    assert_int_equal(count_repeated_sums((float[]){1e-4f, 1e6f, 1e12f, 1, 1}, 5), 3);
    assert_int_equal(count_repeated_sums((float[]){1, 1e-6f, 1e-6f, 1}, 4), 2);
}

static void any_number_of_parts_fits(void **state)
{
    struct params *params = new_params();
    struct exact_sum sum;
    static const size_t parts[] = {1, 2, 3, 4, 5, 1024, 1025, 100000};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        float largest[] = {0.9f, 3e-7f};
        exact_sum_init(&sum, params);
        exact_sum_learn(&sum, largest, params->count, parts[i]);
        assert_true(exact_sum_fits(&sum, largest, params->count, parts[i]));
        /* The worst case: all parts have the same sign and magnitude. */
        double most = 0x1p24 * (double)sum.quantum[0];
        assert_true((double)parts[i] * 0.9 <= most);
        largest[1] = 16 * 3e-7f;
        assert_true(exact_sum_fits(&sum, largest, params->count, parts[i]));
        /* With larger values, rounding would lose too much. */
        assert_true(largest[1] <= 0x1p22f * sum.quantum[1]);
        largest[1] = 64 * 3e-7f;
        assert_false(exact_sum_fits(&sum, largest, params->count, parts[i]));
        exact_sum_release(&sum);
    }
    params_free(params);
}

static void infinite_values_do_not_change_the_quantum(void **state)
{
    struct params *params = new_params();
    struct exact_sum sum;
    exact_sum_init(&sum, params);
    exact_sum_learn(&sum, (float[]){1, 1}, params->count, 1);
    float before = sum.quantum[0];
    float largest[] = {INFINITY, 0};
    assert_true(exact_sum_fits(&sum, largest, params->count, 1));
    exact_sum_learn(&sum, largest, params->count, 1);
    assert_true(sum.quantum[0] == before && sum.quantum[1] == before);
    exact_sum_release(&sum);
    params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_is_bit_identical_for_any_grouping),
        cmocka_unit_test(gradient_out_of_range_is_added_again),
        cmocka_unit_test(any_number_of_parts_fits),
        cmocka_unit_test(infinite_values_do_not_change_the_quantum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

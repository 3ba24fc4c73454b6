/* Sums that do not depend on order and grouping, and how little the rounding costs. */
#include "random_floats.h"

#include "train/exact_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARTS = 12 };

static struct params *two_tensors(void)
{
    struct params *params = params_new();
    params_declare(params, "large", (int[]){100, 3, 1, 1}, PARAM_HE, 9);
    params_declare(params, "small", (int[]){37, 1, 1, 1}, PARAM_ZERO, 0);
    assert_int_equal(params_allocate(params, NULL), 0);
    return params;
}

static void any_grouping_gives_the_same_bits(void **state)
{
    struct params *params = two_tensors();
    struct exact_sum sum;
    exact_sum_init(&sum, params);
    struct rand rand;
    rand_init(&rand, 3);
    for (int round = 0; round < 4; round++) {
        float *parts[PARTS], *exact = zero_floats(params->floats);
        for (int i = 0; i < PARTS; i++) {
            parts[i] = random_floats(&rand, params->floats);
            for (size_t j = 0; j < params->floats; j++) {
                parts[i][j] *= params->entries[1].offset <= j ? 1e-6f : 0.1f;
                exact[j] += parts[i][j];
            }
        }
        float *one = zero_floats(params->floats), *three = zero_floats(params->floats);
        for (int i = 0; i < PARTS; i++)
            exact_sum_add(&sum, params, 0, params->count, parts[i], one);
        for (int worker = 2; worker >= 0; worker--) {
            float *own = zero_floats(params->floats);
            for (int i = worker; i < PARTS; i += 3)
                exact_sum_add(&sum, params, 0, params->count, parts[i], own);
            for (size_t j = 0; j < params->floats; j++)
                three[j] += own[j];
            free(own);
        }
        assert_memory_equal(one, three, params->floats * sizeof(float));
        if (round > 0) { /* the quanta fit by now, for each tensor its own */
            for (size_t i = 0; i < params->count; i++)
                assert_true(apart(one + params->entries[i].offset,
                                  exact + params->entries[i].offset,
                                  params->entries[i].count) < 2e-4);
        }
        exact_sum_learn(&sum, params, one);
        for (int i = 0; i < PARTS; i++)
            free(parts[i]);
        free(exact), free(one), free(three);
    }
    exact_sum_release(&sum);
    params_free(params);
}

static void a_gradient_that_explodes_is_still_added(void **state)
{
    struct params *params = two_tensors();
    struct exact_sum sum;
    exact_sum_init(&sum, params);
    float *part = zero_floats(params->floats), *total = zero_floats(params->floats);
    part[0] = 1e-5f;
    exact_sum_learn(&sum, params, part);
    part[0] = 3e7f;
    exact_sum_add(&sum, params, 0, params->count, part, total);
    assert_true(fabsf(total[0] - 3e7f) < 10);
    exact_sum_learn(&sum, params, total); /* zeros elsewhere change nothing */
    free(part), free(total);
    exact_sum_release(&sum);
    params_free(params);
}

static void the_largest_magnitude_is_found(void **state)
{
    struct rand rand;
    rand_init(&rand, 8);
    for (size_t k = 0; kernels_at(k); k++)
        for (size_t count = 0; count < 70; count++) {
            float *x = random_floats(&rand, count), most = 0;
            for (size_t i = 0; i < count; i++)
                most = fmaxf(most, fabsf(x[i]));
            assert_true(kernels_at(k)->largest(x, count) == most);
            free(x);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_grouping_gives_the_same_bits),
        cmocka_unit_test(a_gradient_that_explodes_is_still_added),
        cmocka_unit_test(the_largest_magnitude_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

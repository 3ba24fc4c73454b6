/* Tests losses on one number: their values, and their derivatives against finite differences. */
#include "train/network/loss_score.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_slope(double (*loss)(float, float, float *), float score, float truth)
{
    float d, ignored, step = 1e-2f;
    (void)loss(score, truth, &d);
    double up = loss(score + step, truth, &ignored), down = loss(score - step, truth, &ignored);
    assert_true(fabs((up - down) / (2 * (double)step) - (double)d) < 1e-3 * (1 + fabs((double)d)));
}

static void derivatives_agree_with_finite_differences(void **state)
{
    for (float score = -4; score <= 4; score += 0.5f)
        for (float truth = 0; truth <= 1; truth += 0.25f) {
            check_slope(loss_mse, score, truth);
            check_slope(loss_sigmoid, score, truth);
        }
}

static void values_agree_with_the_formulas(void **state)
{
    float d;
    assert_true(loss_mse(3, 5, &d) == 4);
    assert_true(d == -4);
    assert_true(fabs(loss_sigmoid(0, 1, &d) - log(2)) < 1e-12);
    assert_true(d == -0.5f);
    assert_true(fabs(loss_sigmoid(2, 0, &d) - log1p(exp(2))) < 1e-12);
}

static void extreme_scores_do_not_overflow(void **state)
{
    float d;
    assert_true(loss_sigmoid(1e30f, 1, &d) == 0 && d == 0);
    assert_true(loss_sigmoid(-1e30f, 0, &d) == 0 && d == 0);
    assert_true(fabs(loss_sigmoid(-1000, 1, &d) - 1000) < 1e-9 && d == -1);
    assert_true(fabs(loss_sigmoid(1000, 0, &d) - 1000) < 1e-9 && d == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree_with_finite_differences),
        cmocka_unit_test(values_agree_with_the_formulas),
        cmocka_unit_test(extreme_scores_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

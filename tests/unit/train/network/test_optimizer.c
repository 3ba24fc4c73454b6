/* Tests that optimizers reach the minimum of a parabola and follow their formulas, and that
 * learning rate schedules rise and fall. */
#include "random_floats.h"

#include "train/network/optimizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct params *new_params(void)
{
    struct params *params = params_new();
    params_declare(params, "weights", (int[]){3, 1, 1, 1}, PARAM_XAVIER, 1);
    params_declare(params, "bias", (int[]){2, 1, 1, 1}, PARAM_ZERO, 0);
    struct err err = ERR_INIT;
    assert_int_equal(params_allocate(params, &err), 0);
    params_initialise(params, 1);
    return params;
}

static void optimizers_reach_the_minimum(void **state)
{
    static const float RATE[] = {
        [OPTIMIZER_SGD] = 0.02f, [OPTIMIZER_ADAM] = 0.05f, [OPTIMIZER_ADAGRAD] = 0.5f};
    for (int kind = OPTIMIZER_SGD; kind <= OPTIMIZER_ADAGRAD; kind++) {
        struct params *params = new_params();
        struct optimizer *optimizer = optimizer_new((enum optimizer_kind)kind, 0, params);
        for (uint64_t step = 1; step <= 400; step++) {
            for (int i = 0; i < 3; i++)
                params_gradient(params, 0)[i] = params_value(params, 0)[i] - (float)i;
            for (int i = 0; i < 2; i++)
                params_gradient(params, 1)[i] = 4 * (params_value(params, 1)[i] + 2);
            optimizer_step(optimizer, params, step, RATE[kind]);
        }
        for (int i = 0; i < 3; i++)
            assert_true(fabsf(params_value(params, 0)[i] - (float)i) < 0.02f);
        for (int i = 0; i < 2; i++)
            assert_true(fabsf(params_value(params, 1)[i] + 2) < 0.02f);
        optimizer_free(optimizer);
        params_free(params);
    }
}

static void first_steps_follow_the_formulas(void **state)
{
    struct params *params = new_params();
    struct optimizer *optimizer = optimizer_new(OPTIMIZER_SGD, 0, params);
    float *value = params_value(params, 1);
    params_clear_gradients(params);
    params_gradient(params, 1)[0] = 2;
    optimizer_step(optimizer, params, 1, 0.1f);
    assert_true(fabsf(value[0] + 0.2f) < 1e-6f);
    optimizer_step(optimizer, params, 2, 0.1f); /* velocity 0.9·2 + 2 */
    assert_true(fabsf(value[0] + 0.58f) < 1e-6f);
    optimizer_free(optimizer);

    value[0] = 0;
    optimizer = optimizer_new(OPTIMIZER_ADAM, 0, params);
    optimizer_step(optimizer, params, 1, 0.1f); /* the first step has the length of the rate */
    assert_true(fabsf(value[0] + 0.1f) < 1e-5f);
    optimizer_free(optimizer);

    value[0] = 0;
    optimizer = optimizer_new(OPTIMIZER_ADAGRAD, 0, params);
    optimizer_step(optimizer, params, 1, 0.1f); /* 0.1·2 / √2² */
    assert_true(fabsf(value[0] + 0.1f) < 1e-6f);
    optimizer_step(optimizer, params, 2, 0.1f);
    assert_true(fabsf(value[0] + 0.1f + 0.2f / sqrtf(8)) < 1e-6f);
    optimizer_free(optimizer);
    params_free(params);
}

static void weight_decay_excludes_biases(void **state)
{
    struct params *params = new_params();
    struct optimizer *optimizer = optimizer_new(OPTIMIZER_ADAM, 0.5f, params);
    params_clear_gradients(params);
    params_value(params, 0)[0] = 1;
    params_value(params, 1)[0] = 1;
    optimizer_step(optimizer, params, 1, 0.1f);
    assert_true(fabsf(params_value(params, 0)[0] - 0.95f) < 1e-6f);
    assert_true(params_value(params, 1)[0] == 1);
    optimizer_free(optimizer);
    params_free(params);
}

static void clipping_scales_the_whole_gradient(void **state)
{
    struct params *params = new_params();
    params_clear_gradients(params);
    params_gradient(params, 0)[2] = 3;
    params_gradient(params, 1)[0] = -4;
    assert_true(optimizer_clip(params, 0) == 0); /* off: the norm is not computed */
    assert_true(optimizer_clip(params, 5) == 5); /* the norm is exactly the limit */
    assert_true(params_gradient(params, 1)[0] == -4);
    assert_true(optimizer_clip(params, 1) == 5);
    assert_true(fabsf(params_gradient(params, 0)[2] - 0.6f) < 1e-6f);
    assert_true(fabsf(params_gradient(params, 1)[0] + 0.8f) < 1e-6f);
    params_gradient(params, 0)[0] = INFINITY; /* cannot be clipped: the loss will show it */
    optimizer_clip(params, 1);
    assert_true(fabsf(params_gradient(params, 0)[2] - 0.6f) < 1e-6f);
    params_free(params);

    struct err err = ERR_INIT;
    assert_int_equal(optimizer_clip_check(0, &err), 0);
    assert_int_equal(optimizer_clip_check(-1, &err), -ERR_INVALID);
    assert_string_equal(
        err.message,
        "the largest norm of the gradient is -1, but must be a positive number, or 0 for no limit");
    assert_int_equal(optimizer_clip_check(NAN, &err), -ERR_INVALID);
}

static void gradient_norm_includes_every_trained_value(void **state)
{
    enum { COUNT = 1003 };
    struct params *params = params_new();
    params_declare(params, "weights", (int[]){COUNT, 1, 1, 1}, PARAM_HE, 1);
    params_declare(params, "mean", (int[]){3, 1, 1, 1}, PARAM_KEPT_ZERO, 0);
    assert_int_equal(params_allocate(params, NULL), 0);
    params_clear_gradients(params);
    double square = 0;
    for (int i = 0; i < COUNT; i++) {
        params_gradient(params, 0)[i] = (float)(i + 1);
        square += (i + 1.0) * (i + 1.0);
    }
    params_gradient(params, 1)[0] = 1e6f; /* not trained */
    assert_true(fabs(optimizer_clip(params, 1) - sqrt(square)) < 1e-6 * sqrt(square));
    assert_true(fabs(optimizer_clip(params, 0.5f) - 1) < 1e-6);
    params_free(params);
}

static void schedules_rise_and_fall(void **state)
{
    struct schedule schedule = {.kind = SCHEDULE_COSINE, .rate = 1, .warm_up = 10, .steps = 110};
    assert_true(fabsf(optimizer_schedule_rate(&schedule, 1) - 0.1f) < 1e-6f);
    assert_true(fabsf(optimizer_schedule_rate(&schedule, 10) - 1) < 1e-6f);
    assert_true(fabsf(optimizer_schedule_rate(&schedule, 60) - 0.505f) < 1e-3f);
    assert_true(fabsf(optimizer_schedule_rate(&schedule, 110) - 0.01f) < 1e-6f);
    assert_true(fabsf(optimizer_schedule_rate(&schedule, 500) - 0.01f) < 1e-6f);
    schedule.kind = SCHEDULE_CONSTANT;
    assert_true(optimizer_schedule_rate(&schedule, 60) == 1);
    schedule.warm_up = 0;
    assert_true(optimizer_schedule_rate(&schedule, 1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers_reach_the_minimum),
        cmocka_unit_test(first_steps_follow_the_formulas),
        cmocka_unit_test(weight_decay_excludes_biases),
        cmocka_unit_test(clipping_scales_the_whole_gradient),
        cmocka_unit_test(gradient_norm_includes_every_trained_value),
        cmocka_unit_test(schedules_rise_and_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

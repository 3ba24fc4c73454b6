/* Tests the softmax loss against its definition in long double, its gradient against finite
 * differences, and that its sums do not depend on how a batch is shared. */
#include "random_floats.h"

#include "train/network/loss_softmax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SAMPLES = 7, CLASSES = 10 };

static long double loss_of(const float *logits, int label, int classes)
{
    long double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += expl((long double)logits[c]);
    return logl(sum) - (long double)logits[label];
}

static void loss_and_probabilities_agree_with_the_definition(void **state)
{
    struct rand rand;
    rand_init(&rand, 3);
    for (int classes = 2; classes <= 40; classes += 19) {
        float *logits = random_floats(&rand, SAMPLES * (size_t)classes);
        float *gradient = zero_floats(SAMPLES * (size_t)classes);
        float *probability = zero_floats(SAMPLES * (size_t)classes);
        uint8_t labels[SAMPLES];
        long double want = 0;
        for (int i = 0; i < SAMPLES; i++) {
            labels[i] = (uint8_t)rand_below(&rand, (uint64_t)classes);
            want += loss_of(logits + i * classes, labels[i], classes);
        }
        struct softmax_result result = loss_softmax(logits, labels, SAMPLES, classes, 1, gradient);
        loss_softmax_probabilities(logits, SAMPLES, classes, probability);
        assert_true(fabsl((long double)result.loss / SOFTMAX_UNITS - want) < 1e-4L);
        for (int i = 0; i < SAMPLES; i++) {
            double sum = 0;
            for (int c = 0; c < classes; c++) {
                long double p = expl(-loss_of(logits + i * classes, c, classes));
                float got = probability[i * classes + c];
                assert_true(fabsl((long double)got - p) < 1e-6L);
                assert_true(fabsf(gradient[i * classes + c] - (got - (c == labels[i]))) < 1e-6f);
                sum += (double)got;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
        free(logits);
        free(gradient);
        free(probability);
    }
}

static void gradient_agrees_with_finite_differences(void **state)
{
    struct rand rand;
    rand_init(&rand, 5);
    float *logits = random_floats(&rand, SAMPLES * CLASSES);
    float *gradient = zero_floats(SAMPLES * CLASSES), *unused = zero_floats(SAMPLES * CLASSES);
    uint8_t labels[SAMPLES] = {0, 9, 3, 3, 5, 1, 7};
    (void)loss_softmax(logits, labels, SAMPLES, CLASSES, 1.0f / SAMPLES, gradient);
    for (int i = 0; i < SAMPLES * CLASSES; i++) {
        float kept = logits[i], step = 0.01f;
        logits[i] = kept + step;
        int64_t up = loss_softmax(logits, labels, SAMPLES, CLASSES, 1, unused).loss;
        logits[i] = kept - step;
        int64_t down = loss_softmax(logits, labels, SAMPLES, CLASSES, 1, unused).loss;
        logits[i] = kept;
        double slope = (double)(up - down) / SOFTMAX_UNITS / (2 * (double)step) / SAMPLES;
        assert_true(fabs(slope - (double)gradient[i]) < 1e-4);
    }
    free(logits);
    free(gradient);
    free(unused);
}

static void sums_of_shares_are_bit_identical(void **state)
{
    struct rand rand;
    rand_init(&rand, 6);
    float *logits = random_floats(&rand, SAMPLES * CLASSES), *unused = zero_floats(64 * CLASSES);
    uint8_t labels[SAMPLES] = {0, 1, 2, 3, 4, 5, 6};
    struct softmax_result whole = loss_softmax(logits, labels, SAMPLES, CLASSES, 1, unused);
    for (int cut = 0; cut <= SAMPLES; cut++) {
        struct softmax_result a = loss_softmax(logits, labels, (size_t)cut, CLASSES, 1, unused);
        struct softmax_result b = loss_softmax(logits + cut * CLASSES, labels + cut,
                                               (size_t)(SAMPLES - cut), CLASSES, 1, unused);
        assert_true(a.loss + b.loss == whole.loss);
        assert_int_equal(a.right + b.right, whole.right);
    }
    free(logits);
    free(unused);
}

static void extreme_logits_do_not_overflow(void **state)
{
    float logits[] = {1e30f, -1e30f, 0, 3e38f, 3e38f, 3e38f}, gradient[6], probability[6];
    uint8_t labels[] = {0, 1};
    struct softmax_result result = loss_softmax(logits, labels, 2, 3, 1, gradient);
    loss_softmax_probabilities(logits, 2, 3, probability);
    assert_true(fabsf(probability[0] - 1) < 1e-6f && fabsf(probability[4] - 1.0f / 3) < 1e-6f);
    assert_true(fabs((double)result.loss / SOFTMAX_UNITS - log(3)) < 1e-5);
    assert_int_equal(result.right, 2);
    float lost[] = {NAN, 0, 0};
    result = loss_softmax(lost, labels, 1, 3, 1, gradient);
    assert_true(result.loss == (int64_t)SOFTMAX_LOSS_MAX * SOFTMAX_UNITS);
    assert_int_equal(result.right, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_and_probabilities_agree_with_the_definition),
        cmocka_unit_test(gradient_agrees_with_finite_differences),
        cmocka_unit_test(sums_of_shares_are_bit_identical),
        cmocka_unit_test(extreme_logits_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

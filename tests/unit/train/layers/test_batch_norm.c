/* Tests batch norm in parts, on random shapes, against the reference for the whole batch. */
#include "random_floats.h"

#include "train/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARTS_MAX = 4 };

struct results {
    float *y, *dx, *mean, *variance, *d_scale, *d_shift;
};

static struct results results_new(size_t count, size_t c, const float *dx)
{
    struct results results = {zero_floats(count), zero_floats(count), zero_floats(c),
                              zero_floats(c),     zero_floats(c),     zero_floats(c)};
    memcpy(results.dx, dx, count * sizeof(*dx));
    return results;
}

static void results_free(struct results *results)
{
    free(results->y), free(results->dx), free(results->mean);
    free(results->variance), free(results->d_scale), free(results->d_shift);
}

static void run_in_parts(const struct kernels *k, const struct batch_norm_shape *s, int parts,
                         const float *x, const float *scale, const float *shift, const float *dy,
                         bool accumulate, struct results *results)
{
    size_t c = (size_t)s->c, sample = s->rows * c, stride = batch_norm_sum_count(s->c);
    float *sums = zero_floats((PARTS_MAX + 1) * stride), *total = zero_floats(stride),
          *back = zero_floats(stride), *scratch = zero_floats(3 * c);
    struct batch_norm_shape part[PARTS_MAX + 1];
    size_t at[PARTS_MAX + 1] = {0};
    for (int i = 0; i <= parts; i++) { /* the last part has no samples */
        part[i] = *s;
        part[i].n = i < parts ? s->n / parts + (i < s->n % parts) : 0;
        at[i] = i ? at[i - 1] + (size_t)part[i - 1].n * sample : 0;
        batch_norm_sums(k, &part[i], x + at[i], sums + (size_t)i * stride);
    }
    batch_norm_merge(s->c, sums, (size_t)parts + 1, total);
    memcpy(results->mean, total + 1, c * sizeof(float));
    memcpy(results->variance, total + 1 + c, c * sizeof(float));
    for (int i = 0; i < parts; i++) {
        batch_norm_forward(k, &part[i], x + at[i], results->mean, results->variance, scale, shift,
                           results->y + at[i], scratch);
        batch_norm_gradient_sums(k, &part[i], x + at[i], results->y + at[i], results->mean,
                                 dy + at[i], sums + (size_t)i * stride);
    }
    batch_norm_merge_gradient(s->c, sums, (size_t)parts + 1, back);
    for (size_t i = 0; i < c; i++) {
        results->d_shift[i] = back[1 + i];
        results->d_scale[i] = back[1 + c + i] / batch_norm_deviation(results->variance[i]);
    }
    for (int i = 0; i < parts; i++)
        batch_norm_backward(k, &part[i], x + at[i], results->y + at[i], results->mean,
                            results->variance, scale, back, dy + at[i], results->dx + at[i],
                            accumulate, scratch);
    free(sums), free(total), free(back), free(scratch);
}

static void parts_agree_with_the_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 71);
    for (int round = 0; round < 40; round++) {
        struct batch_norm_shape s = {.n = PARTS_MAX + (int)rand_below(&rand, 6),
                                     .rows = 1 + rand_below(&rand, 30),
                                     .c = 1 + (int)rand_below(&rand, 70),
                                     .relu = round % 2};
        size_t c = (size_t)s.c, count = (size_t)s.n * s.rows * c;
        int parts = 1 + (int)rand_below(&rand, PARTS_MAX);
        bool accumulate = round % 3 == 0;
        float *x = random_floats(&rand, count), *dy = random_floats(&rand, count),
              *scale = random_floats(&rand, c), *shift = random_floats(&rand, c);
        for (size_t i = 0; i < count; i++) /* a mean far from 0 must not cost precision */
            x[i] = x[i] * 3 + 50 + (float)(i / s.rows / c);
        struct results want = results_new(count, c, dy);
        ref_batch_norm_forward(&s, x, scale, shift, want.y, want.mean, want.variance);
        ref_batch_norm_backward(&s, x, want.y, scale, want.mean, want.variance, dy, want.dx,
                                accumulate, want.d_scale, want.d_shift);
        for (size_t k = 0; kernels_at(k); k++) {
            struct results got = results_new(count, c, dy);
            run_in_parts(kernels_at(k), &s, parts, x, scale, shift, dy, accumulate, &got);
            assert_true(apart(want.mean, got.mean, c) < 1e-6);
            assert_true(apart(want.variance, got.variance, c) < 1e-5);
            assert_true(apart(want.y, got.y, count) < 1e-4);
            assert_true(apart(want.dx, got.dx, count) < 1e-4);
            assert_true(apart(want.d_scale, got.d_scale, c) < 1e-4);
            assert_true(apart(want.d_shift, got.d_shift, c) < 1e-4);
            results_free(&got);
        }
        results_free(&want);
        free(x), free(dy), free(scale), free(shift);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

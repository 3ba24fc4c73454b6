/* Tests every convolution algorithm against its reference, on random shapes: strides, padding, odd
 * numbers of channels, windows larger and smaller than the stride. Norms and pooling are tested
 * likewise. test_channels.c tests the functions that they use.
 *
 *   test_train_kernels [NAME [BF16]]
 *
 * With arguments it runs on an emulated processor and tests fewer shapes. The best table must be
 * called NAME, and the best one for bf16 BF16. */
#include "random_floats.h"

#include "train/kernels/blas.h"
#include "train/kernels/kernels.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static bool emulated, emulated_bf16;

enum { PARTS = 3 }; /* number of parts in which weights are packed */

static void check_conv(const struct conv_kernels *fast, const struct conv_kernels *ref,
                       const struct conv_shape *s, struct rand *rand)
{
    size_t weights_count = conv_weights_count(s);
    float *in = random_floats(rand, conv_in_count(s)),
          *weights = random_floats(rand, weights_count);
    float *d_out = random_floats(rand, conv_out_count(s));
    float *packed = zero_floats(fast->packed_count(s)),
          *in_parts = zero_floats(fast->packed_count(s)),
          *scratch = random_floats(rand, fast->scratch_count(s));
    float *out[2], *d_in[2], *d_weights[2];
    float *d_in_before = random_floats(rand, conv_in_count(s));
    for (int i = 0; i < 2; i++) {
        const struct conv_kernels *kernels = i ? fast : ref;
        out[i] = random_floats(rand, conv_out_count(s));
        d_in[i] = zero_floats(2 * conv_in_count(s));
        memcpy(d_in[i] + conv_in_count(s), d_in_before, conv_in_count(s) * sizeof(float));
        d_weights[i] = zero_floats(weights_count);
        /* The results must be added to these values. */
        memcpy(d_weights[i], weights, weights_count * sizeof(float));
        const float *use = weights;
        if (i) {
            kernels->pack(s, weights, 0, 1, packed);
            for (int part = PARTS - 1; part >= 0; part--)
                kernels->pack(s, weights, part, PARTS, in_parts);
            assert_true(!memcmp(packed, in_parts, fast->packed_count(s) * sizeof(float)));
            use = packed;
        }
        kernels->forward(s, in, use, out[i], scratch);
        kernels->backward_data(s, d_out, use, d_in[i], false, scratch);
        kernels->backward_data(s, d_out, use, d_in[i] + conv_in_count(s), true, scratch);
        kernels->backward_weights(s, in, d_out, d_weights[i], scratch);
    }
    double worst[] = {apart(out[0], out[1], conv_out_count(s)),
                      apart(d_in[0], d_in[1], 2 * conv_in_count(s)),
                      apart(d_weights[0], d_weights[1], weights_count)};
    for (int i = 0; i < 3; i++)
        if (worst[i] > 2e-5)
            fail_msg("%s %s: %g apart: n %d, %d×%d, %d→%d, window %d stride %d border %d",
                     fast->name, (const char *[]){"forward", "data", "weights"}[i], worst[i], s->n,
                     s->h, s->w, s->in, s->out, s->kernel, s->stride, s->pad);
    for (int i = 0; i < 2; i++)
        free(out[i]), free(d_in[i]), free(d_weights[i]);
    free(in), free(weights), free(d_out), free(packed), free(in_parts), free(scratch),
        free(d_in_before);
}

static void check_conv_algorithms(const struct conv_shape *s, struct rand *rand)
{
    if (emulated) { /* emulation is slow, so only the algorithm of this processor is tested */
        if (kernels_best()->conv->fits(s))
            check_conv(kernels_best()->conv, &ref_conv_kernels, s, rand);
        if (emulated_bf16 && kernels_conv_bf16_at(0)->fits(s))
            check_conv(kernels_conv_bf16_at(0), &ref_conv_kernels_bf16, s, rand);
        return;
    }
    check_conv(&conv_kernels_gemm, &ref_conv_kernels, s, rand);
    for (size_t i = 0; kernels_at(i); i++)
        if (kernels_at(i)->conv->fits(s))
            check_conv(kernels_at(i)->conv, &ref_conv_kernels, s, rand);
    for (size_t i = 0; kernels_conv_bf16_at(i); i++)
        if (kernels_conv_bf16_at(i)->fits(s))
            check_conv(kernels_conv_bf16_at(i), &ref_conv_kernels_bf16, s, rand);
}

static void convolutions_agree_on_random_shapes(void **state)
{
    struct rand rand;
    rand_init(&rand, 1);
    for (int round = 0; round < (emulated ? 16 : 80); round++) {
        int channels[] = {1, 3, 7, 8, 16, 24, 32, 48, 80};
        struct conv_shape s = {
            .n = 1 + (int)rand_below(&rand, 3),
            .in = channels[rand_below(&rand, ARRAY_SIZE(channels))],
            .out = channels[rand_below(&rand, ARRAY_SIZE(channels))],
            .kernel = 1 + (int)rand_below(&rand, 5),
            .stride = 1 + (int)rand_below(&rand, 3),
        };
        s.pad = (int)rand_below(&rand, (uint64_t)s.kernel);
        s.h = s.kernel + (int)rand_below(&rand, 6);
        s.w = s.kernel + (int)rand_below(&rand, 6);
        check_conv_algorithms(&s, &rand);
    }
}

static void convolutions_agree_on_the_shapes_of_models(void **state)
{
    static const struct conv_shape shapes[] = {
        {2, 24, 24, 1, 16, 3, 2, 1},  {2, 12, 12, 16, 32, 3, 1, 1}, {3, 6, 6, 32, 64, 3, 2, 1},
        {3, 6, 6, 32, 64, 1, 2, 0},   {5, 3, 3, 64, 96, 3, 1, 1},   {9, 1, 1, 96, 128, 1, 1, 0},
        {3, 9, 9, 1, 32, 5, 1, 2},    {3, 7, 7, 32, 64, 5, 1, 2},   {3, 1, 1, 208, 64, 1, 1, 0},
        {2, 14, 14, 16, 16, 5, 1, 2}, {7, 14, 14, 16, 32, 5, 1, 2}, {131, 1, 1, 16, 48, 1, 1, 0},
    };
    struct rand rand;
    rand_init(&rand, 2);
    for (size_t i = 0; i < ARRAY_SIZE(shapes) && !(emulated && i > 1); i++)
        check_conv_algorithms(&shapes[i], &rand);
}

static void odd_number_of_channels_uses_gemm(void **state)
{
    struct conv_shape s = {.n = 1, .h = 5, .w = 5, .in = 3, .out = 7, .kernel = 3, .stride = 1};
    assert_string_equal(kernels_choose_conv(&s, PRECISION_FP32)->name, "gemm");
    assert_string_equal(kernels_choose_conv(&s, PRECISION_BF16)->name, "emulated");
    s.out = 16;
    assert_string_equal(kernels_choose_conv(&s, PRECISION_FP32)->name, kernels_best()->name);
}

static void group_norm_agrees_with_its_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 3);
    for (int round = 0; round < 24; round++) {
        int groups[] = {1, 2, 3, 4}, widths[] = {1, 5, 8, 16, 40};
        struct group_norm_shape s = {.n = 2, .rows = 1 + rand_below(&rand, 40)};
        s.groups = groups[rand_below(&rand, 4)];
        s.c = s.groups * widths[rand_below(&rand, 5)];
        s.rows += s.c == s.groups; /* a group of one value has no deviation */
        s.relu = round % 2;
        bool accumulate = round % 4 >= 2;
        size_t count = (size_t)s.n * s.rows * (size_t)s.c, c = (size_t)s.c;
        float *x = random_floats(&rand, count), *dy = random_floats(&rand, count);
        float *scale = random_floats(&rand, c), *shift = random_floats(&rand, c);
        float *scratch = random_floats(&rand, 6 * c);
        for (size_t i = 0; i < count; i++)
            x[i] = x[i] * 3 + 50; /* a mean far from 0 must not cost precision */
        for (size_t k = 0; kernels_at(k); k++) {
            float *y[2], *dx[2], *saved[2], *d_scale[2], *d_shift[2];
            for (int i = 0; i < 2; i++) {
                y[i] = zero_floats(count), dx[i] = zero_floats(count);
                memcpy(dx[i], dy, count * sizeof(float));
                saved[i] = zero_floats((size_t)(2 * s.n * s.groups));
                d_scale[i] = zero_floats(c), d_shift[i] = zero_floats(c);
            }
            ref_group_norm_forward(&s, x, scale, shift, y[0], saved[0]);
            ref_group_norm_backward(&s, x, y[0], scale, saved[0], dy, dx[0], accumulate, d_scale[0],
                                    d_shift[0]);
            group_norm_forward(kernels_at(k), &s, x, scale, shift, y[1], saved[1], scratch);
            group_norm_backward(kernels_at(k), &s, x, y[0], scale, saved[1], dy, dx[1], accumulate,
                                d_scale[1], d_shift[1], scratch);
            assert_true(apart(y[0], y[1], count) < 1e-4);
            assert_true(apart(dx[0], dx[1], count) < 1e-4);
            assert_true(apart(d_scale[0], d_scale[1], c) < 1e-4);
            assert_true(apart(d_shift[0], d_shift[1], c) < 1e-4);
            for (int i = 0; i < 2; i++)
                free(y[i]), free(dx[i]), free(saved[i]), free(d_scale[i]), free(d_shift[i]);
        }
        free(x), free(dy), free(scale), free(shift), free(scratch);
    }
}

static void max_pool_agrees_with_its_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 12);
    for (int round = 0; round < 60; round++) {
        int window = 1 + (int)rand_below(&rand, 3);
        struct pool_shape s = {.n = 1 + (int)rand_below(&rand, 3),
                               .h = window + (int)rand_below(&rand, 7),
                               .w = window + (int)rand_below(&rand, 7),
                               .c = 1 + (int)rand_below(&rand, 40),
                               .window = window,
                               .stride = 1 + (int)rand_below(&rand, 3)};
        size_t count = (size_t)s.n * (size_t)s.h * (size_t)s.w * (size_t)s.c;
        size_t outs = (size_t)s.n * (size_t)pool_out_h(&s) * (size_t)pool_out_w(&s) * (size_t)s.c;
        float *in = random_floats(&rand, count), *out = zero_floats(outs);
        for (size_t i = 0; i < count; i++) /* equal maxima, as after a ReLU */
            in[i] = in[i] > 0 ? in[i] : 0;
        float *d_out = random_floats(&rand, outs), *before = random_floats(&rand, count);
        float *want = zero_floats(count), *got = zero_floats(count), *scratch = zero_floats(40);
        pool_max_forward(&s, in, out);
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            memcpy(want, before, count * sizeof(float));
            pool_max_backward_ref(&s, in, out, d_out, want, accumulate);
            for (size_t k = 0; kernels_at(k); k++) {
                memcpy(got, before, count * sizeof(float));
                pool_max_backward(kernels_at(k), &s, in, out, d_out, got, accumulate, scratch);
                assert_true(apart(want, got, count) < 1e-6);
            }
        }
        free(in), free(out), free(d_out), free(before), free(want), free(got), free(scratch);
    }
}

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* OpenBLAS computes the products without its own threads. Without OpenBLAS plain loops do. */
static void products_agree_with_their_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 5);
    int before = count_threads();
    for (int round = 0; round < 200; round++) {
        struct product p = {.m = 1 + (int)rand_below(&rand, 20),
                            .n = 1 + (int)rand_below(&rand, 20),
                            .k = 1 + (int)rand_below(&rand, 20),
                            .a_transposed = round & 1,
                            .b_transposed = round & 2,
                            .add = round & 4};
        size_t count = (size_t)(p.m * p.n);
        float *a = random_floats(&rand, (size_t)(p.m * p.k));
        float *b = random_floats(&rand, (size_t)(p.k * p.n));
        float *want = random_floats(&rand, count), *got = zero_floats(count);
        memcpy(got, want, count * sizeof(*got));
        blas_product_ref(&p, a, b, want);
        blas_product(&p, a, b, got);
        assert_true(apart(want, got, count) < 1e-5);
        free(a), free(b), free(want), free(got);
    }
    assert_true(emulated || !blas_missing());
    assert_int_equal(count_threads(), before);
}

int main(int argc, char **argv)
{
    emulated = argc > 1;
    emulated_bf16 = argc > 2;
    if ((emulated && strcmp(argv[1], kernels_best()->name) != 0) ||
        (emulated_bf16 && strcmp(argv[2], kernels_conv_bf16_at(0)->name) != 0)) {
        fprintf(stderr, "the kernels of this processor are %s, in bf16 %s\n", kernels_best()->name,
                kernels_conv_bf16_at(0)->name);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        /* Must be first: it loads OpenBLAS. */
        cmocka_unit_test(products_agree_with_their_reference),
        cmocka_unit_test(convolutions_agree_on_random_shapes),
        cmocka_unit_test(convolutions_agree_on_the_shapes_of_models),
        cmocka_unit_test(odd_number_of_channels_uses_gemm),
        cmocka_unit_test(group_norm_agrees_with_its_reference),
        cmocka_unit_test(max_pool_agrees_with_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the fast depthwise convolution against its reference, on random shapes: strides, padding,
 * windows as large as the picture, odd numbers of channels. */
#include "random_floats.h"

#include "train/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_shape(const struct depthwise_kernels *fast, const struct depthwise_shape *s,
                        struct rand *rand, bool accumulate)
{
    const struct depthwise_kernels *ref = &ref_depthwise_kernels;
    size_t c = (size_t)s->c, ins = (size_t)s->n * (size_t)s->h * (size_t)s->w * c,
           outs = (size_t)s->n * (size_t)depthwise_out_h(s) * (size_t)depthwise_out_w(s) * c,
           count = (size_t)s->kernel * (size_t)s->kernel * c;
    float *in = random_floats(rand, ins), *weights = random_floats(rand, count),
          *d_out = random_floats(rand, outs), *before = random_floats(rand, ins),
          *d_before = random_floats(rand, count);
    float *out[2], *d_in[2], *d_weights[2];
    for (int i = 0; i < 2; i++) {
        const struct depthwise_kernels *kernels = i ? fast : ref;
        out[i] = zero_floats(outs), d_in[i] = zero_floats(ins), d_weights[i] = zero_floats(count);
        memcpy(d_in[i], before, ins * sizeof(float));
        memcpy(d_weights[i], d_before, count * sizeof(float));
        kernels->forward(s, in, weights, out[i]);
        kernels->backward_data(s, d_out, weights, d_in[i], accumulate);
        kernels->backward_weights(s, in, d_out, d_weights[i]);
    }
    assert_true(apart(out[0], out[1], outs) < 1e-5);
    assert_true(apart(d_in[0], d_in[1], ins) < 1e-5);
    assert_true(apart(d_weights[0], d_weights[1], count) < 1e-5);
    for (int i = 0; i < 2; i++)
        free(out[i]), free(d_in[i]), free(d_weights[i]);
    free(in), free(weights), free(d_out), free(before), free(d_before);
}

static void fast_kernels_agree_with_the_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 33);
    for (int round = 0; round < 300; round++) {
        int kernel = 1 + (int)rand_below(&rand, 5);
        struct depthwise_shape s = {.n = 1 + (int)rand_below(&rand, 3),
                                    .h = kernel + (int)rand_below(&rand, 10),
                                    .w = kernel + (int)rand_below(&rand, 14),
                                    .c = 1 + (int)rand_below(&rand, 70),
                                    .kernel = kernel,
                                    .stride = 1 + (int)rand_below(&rand, 3),
                                    .pad = (int)rand_below(&rand, (uint64_t)kernel)};
        if (round % 5 == 0) { /* smaller than the window without the padding */
            s.pad = kernel - 1;
            s.h = s.w = 1 + (int)rand_below(&rand, 2);
        }
        if (s.h + 2 * s.pad < kernel || s.w + 2 * s.pad < kernel)
            continue;
        for (size_t k = 0; kernels_at(k); k++)
            check_shape(kernels_at(k)->depthwise, &s, &rand, round % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_kernels_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

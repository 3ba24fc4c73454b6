/* bf16 convolution for every machine and every shape. The factors are rounded to bf16 but stored as
 * float32, and the float32 kernels multiply them. A product of two bf16 values is exact in float32,
 * so the result differs from that of the bf16 instructions only in the rounding of the sums, and in
 * denormal numbers, which the instructions treat as 0. The emulation is not faster than float32. It
 * exists so that --precision bf16 works on every machine. */
#include "train/kernels/kernels.h"

#include <string.h>

static bool rounded_fits(const struct conv_shape *s)
{
    return true;
}

/* `packed` has the rounded weights first and then the packed weights, because pack() has no scratch
 * memory. */
static size_t rounded_packed_count(const struct conv_shape *s)
{
    return conv_weights_count(s) + kernels_choose_conv(s, PRECISION_FP32)->packed_count(s);
}

static size_t rounded_scratch_count(const struct conv_shape *s)
{
    return conv_in_count(s) + conv_out_count(s) +
           kernels_choose_conv(s, PRECISION_FP32)->scratch_count(s);
}

static void rounded_pack(const struct conv_shape *s, const float *weights, int part, int parts,
                         float *packed)
{
    (void)parts;
    if (part > 0)
        return; /* all weights must be rounded before any is packed */
    kernels_best()->round_bf16(weights, conv_weights_count(s), packed);
    kernels_choose_conv(s, PRECISION_FP32)->pack(s, packed, 0, 1, packed + conv_weights_count(s));
}

static void rounded_forward(const struct conv_shape *s, const float *in, const float *packed,
                            float *out, float *scratch)
{
    kernels_best()->round_bf16(in, conv_in_count(s), scratch);
    kernels_choose_conv(s, PRECISION_FP32)
        ->forward(s, scratch, packed + conv_weights_count(s), out, scratch + conv_in_count(s));
}

static void rounded_backward_data(const struct conv_shape *s, const float *d_out,
                                  const float *packed, float *d_in, bool accumulate, float *scratch)
{
    kernels_best()->round_bf16(d_out, conv_out_count(s), scratch);
    kernels_choose_conv(s, PRECISION_FP32)
        ->backward_data(s, scratch, packed + conv_weights_count(s), d_in, accumulate,
                        scratch + conv_out_count(s));
}

static void rounded_backward_weights(const struct conv_shape *s, const float *in,
                                     const float *d_out, float *d_weights, float *scratch)
{
    float *rounded = scratch + conv_in_count(s);
    kernels_best()->round_bf16(in, conv_in_count(s), scratch);
    kernels_best()->round_bf16(d_out, conv_out_count(s), rounded);
    kernels_choose_conv(s, PRECISION_FP32)
        ->backward_weights(s, scratch, rounded, d_weights, rounded + conv_out_count(s));
}

const struct conv_kernels conv_kernels_rounded = {
    .name = "emulated",
    .fits = rounded_fits,
    .packed_count = rounded_packed_count,
    .scratch_count = rounded_scratch_count,
    .pack = rounded_pack,
    .forward = rounded_forward,
    .backward_data = rounded_backward_data,
    .backward_weights = rounded_backward_weights,
};

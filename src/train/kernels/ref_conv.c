/* The reference of convolution: simple loops with sums in double. One version has float32 factors,
 * and the other has factors rounded to bf16. Tests compare every fast kernel with the reference.
 * Training never calls it. */
#include "train/kernels/bf16.h"
#include "train/kernels/kernels.h"

static bool ref_fits(const struct conv_shape *s)
{
    return true;
}

static size_t ref_packed_count(const struct conv_shape *s)
{
    return conv_weights_count(s);
}

static size_t ref_scratch_count(const struct conv_shape *s)
{
    return 0;
}

static void ref_pack(const struct conv_shape *s, const float *weights, int part, int parts,
                     float *packed)
{
    (void)parts;
    for (size_t i = 0; part == 0 && i < conv_weights_count(s); i++)
        packed[i] = weights[i];
}

/* Returns the offset of element [i][j][k][l] of an array [][b][c][d]. */
static size_t offset_of4(int b, int c, int d, int i, int j, int k, int l)
{
    return (((size_t)i * (size_t)b + (size_t)j) * (size_t)c + (size_t)k) * (size_t)d + (size_t)l;
}

static double round_factor(float value, enum precision precision)
{
    return (double)(precision == PRECISION_BF16 ? bf16_value(bf16_round(value)) : value);
}

static void conv_forward(enum precision precision, const struct conv_shape *s, const float *in,
                         const float *weights, float *out)
{
    int oh = conv_out_h(s), ow = conv_out_w(s);
    for (int n = 0; n < s->n; n++)
        for (int oy = 0; oy < oh; oy++)
            for (int ox = 0; ox < ow; ox++)
                for (int o = 0; o < s->out; o++) {
                    double sum = 0;
                    for (int ky = 0; ky < s->kernel; ky++)
                        for (int kx = 0; kx < s->kernel; kx++) {
                            int y = oy * s->stride + ky - s->pad, x = ox * s->stride + kx - s->pad;
                            if (y < 0 || y >= s->h || x < 0 || x >= s->w)
                                continue;
                            for (int i = 0; i < s->in; i++)
                                sum +=
                                    round_factor(in[offset_of4(s->h, s->w, s->in, n, y, x, i)],
                                                 precision) *
                                    round_factor(
                                        weights[offset_of4(s->kernel, s->in, s->out, ky, kx, i, o)],
                                        precision);
                        }
                    out[offset_of4(oh, ow, s->out, n, oy, ox, o)] = (float)sum;
                }
}

static void conv_backward_data(enum precision precision, const struct conv_shape *s,
                               const float *d_out, const float *weights, float *d_in,
                               bool accumulate)
{
    int oh = conv_out_h(s), ow = conv_out_w(s);
    for (int n = 0; n < s->n; n++)
        for (int y = 0; y < s->h; y++)
            for (int x = 0; x < s->w; x++)
                for (int i = 0; i < s->in; i++) {
                    double sum = 0;
                    for (int ky = 0; ky < s->kernel; ky++)
                        for (int kx = 0; kx < s->kernel; kx++) {
                            int sy = y + s->pad - ky, sx = x + s->pad - kx;
                            if (sy < 0 || sx < 0 || sy % s->stride || sx % s->stride)
                                continue;
                            int oy = sy / s->stride, ox = sx / s->stride;
                            if (oy >= oh || ox >= ow)
                                continue;
                            for (int o = 0; o < s->out; o++)
                                sum +=
                                    round_factor(d_out[offset_of4(oh, ow, s->out, n, oy, ox, o)],
                                                 precision) *
                                    round_factor(
                                        weights[offset_of4(s->kernel, s->in, s->out, ky, kx, i, o)],
                                        precision);
                        }
                    float *target = &d_in[offset_of4(s->h, s->w, s->in, n, y, x, i)];
                    *target = (accumulate ? *target : 0) + (float)sum;
                }
}

static void conv_backward_weights(enum precision precision, const struct conv_shape *s,
                                  const float *in, const float *d_out, float *d_weights)
{
    int oh = conv_out_h(s), ow = conv_out_w(s);
    for (int ky = 0; ky < s->kernel; ky++)
        for (int kx = 0; kx < s->kernel; kx++)
            for (int i = 0; i < s->in; i++)
                for (int o = 0; o < s->out; o++) {
                    double sum = 0;
                    for (int n = 0; n < s->n; n++)
                        for (int oy = 0; oy < oh; oy++)
                            for (int ox = 0; ox < ow; ox++) {
                                int y = oy * s->stride + ky - s->pad;
                                int x = ox * s->stride + kx - s->pad;
                                if (y < 0 || y >= s->h || x < 0 || x >= s->w)
                                    continue;
                                sum += round_factor(in[offset_of4(s->h, s->w, s->in, n, y, x, i)],
                                                    precision) *
                                       round_factor(d_out[offset_of4(oh, ow, s->out, n, oy, ox, o)],
                                                    precision);
                            }
                    d_weights[offset_of4(s->kernel, s->in, s->out, ky, kx, i, o)] += (float)sum;
                }
}

static void ref_forward(const struct conv_shape *s, const float *in, const float *weights,
                        float *out, float *scratch)
{
    conv_forward(PRECISION_FP32, s, in, weights, out);
}

static void ref_backward_data(const struct conv_shape *s, const float *d_out, const float *weights,
                              float *d_in, bool accumulate, float *scratch)
{
    conv_backward_data(PRECISION_FP32, s, d_out, weights, d_in, accumulate);
}

static void ref_backward_weights(const struct conv_shape *s, const float *in, const float *d_out,
                                 float *d_weights, float *scratch)
{
    conv_backward_weights(PRECISION_FP32, s, in, d_out, d_weights);
}

const struct conv_kernels ref_conv_kernels = {
    .name = "ref",
    .fits = ref_fits,
    .packed_count = ref_packed_count,
    .scratch_count = ref_scratch_count,
    .pack = ref_pack,
    .forward = ref_forward,
    .backward_data = ref_backward_data,
    .backward_weights = ref_backward_weights,
};

static void ref_forward_bf16(const struct conv_shape *s, const float *in, const float *weights,
                             float *out, float *scratch)
{
    conv_forward(PRECISION_BF16, s, in, weights, out);
}

static void ref_backward_data_bf16(const struct conv_shape *s, const float *d_out,
                                   const float *weights, float *d_in, bool accumulate,
                                   float *scratch)
{
    conv_backward_data(PRECISION_BF16, s, d_out, weights, d_in, accumulate);
}

static void ref_backward_weights_bf16(const struct conv_shape *s, const float *in,
                                      const float *d_out, float *d_weights, float *scratch)
{
    conv_backward_weights(PRECISION_BF16, s, in, d_out, d_weights);
}

const struct conv_kernels ref_conv_kernels_bf16 = {
    .name = "ref bf16",
    .fits = ref_fits,
    .packed_count = ref_packed_count,
    .scratch_count = ref_scratch_count,
    .pack = ref_pack,
    .forward = ref_forward_bf16,
    .backward_data = ref_backward_data_bf16,
    .backward_weights = ref_backward_weights_bf16,
};

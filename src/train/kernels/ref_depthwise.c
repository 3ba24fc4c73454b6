/* The reference of depthwise convolution: simple loops with sums in double. Tests compare the fast
 * kernel with it. Training never calls it. */
#include "train/kernels/kernels.h"

static size_t ref_pixel_offset(int h, int w, int c, int n, int y, int x, int i)
{
    return (((size_t)n * (size_t)h + (size_t)y) * (size_t)w + (size_t)x) * (size_t)c + (size_t)i;
}

static void ref_forward(const struct depthwise_shape *s, const float *in, const float *weights,
                        float *out)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    for (int n = 0; n < s->n; n++)
        for (int oy = 0; oy < oh; oy++)
            for (int ox = 0; ox < ow; ox++)
                for (int i = 0; i < s->c; i++) {
                    double sum = 0;
                    for (int ky = 0; ky < s->kernel; ky++)
                        for (int kx = 0; kx < s->kernel; kx++) {
                            int y = oy * s->stride + ky - s->pad, x = ox * s->stride + kx - s->pad;
                            if (y >= 0 && y < s->h && x >= 0 && x < s->w)
                                sum +=
                                    (double)in[ref_pixel_offset(s->h, s->w, s->c, n, y, x, i)] *
                                    (double)
                                        weights[ref_pixel_offset(0, s->kernel, s->c, 0, ky, kx, i)];
                        }
                    out[ref_pixel_offset(oh, ow, s->c, n, oy, ox, i)] = (float)sum;
                }
}

static void ref_backward_data(const struct depthwise_shape *s, const float *d_out,
                              const float *weights, float *d_in, bool accumulate)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    for (int n = 0; n < s->n; n++)
        for (int y = 0; y < s->h; y++)
            for (int x = 0; x < s->w; x++)
                for (int i = 0; i < s->c; i++) {
                    double sum = 0;
                    for (int oy = 0; oy < oh; oy++)
                        for (int ox = 0; ox < ow; ox++) {
                            int ky = y + s->pad - oy * s->stride, kx = x + s->pad - ox * s->stride;
                            if (ky >= 0 && ky < s->kernel && kx >= 0 && kx < s->kernel)
                                sum +=
                                    (double)d_out[ref_pixel_offset(oh, ow, s->c, n, oy, ox, i)] *
                                    (double)
                                        weights[ref_pixel_offset(0, s->kernel, s->c, 0, ky, kx, i)];
                        }
                    float *to = &d_in[ref_pixel_offset(s->h, s->w, s->c, n, y, x, i)];
                    *to = (accumulate ? *to : 0) + (float)sum;
                }
}

static void ref_backward_weights(const struct depthwise_shape *s, const float *in,
                                 const float *d_out, float *d_weights)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    for (int ky = 0; ky < s->kernel; ky++)
        for (int kx = 0; kx < s->kernel; kx++)
            for (int i = 0; i < s->c; i++) {
                double sum = 0;
                for (int n = 0; n < s->n; n++)
                    for (int oy = 0; oy < oh; oy++)
                        for (int ox = 0; ox < ow; ox++) {
                            int y = oy * s->stride + ky - s->pad, x = ox * s->stride + kx - s->pad;
                            if (y >= 0 && y < s->h && x >= 0 && x < s->w)
                                sum += (double)in[ref_pixel_offset(s->h, s->w, s->c, n, y, x, i)] *
                                       (double)d_out[ref_pixel_offset(oh, ow, s->c, n, oy, ox, i)];
                        }
                d_weights[ref_pixel_offset(0, s->kernel, s->c, 0, ky, kx, i)] += (float)sum;
            }
}

const struct depthwise_kernels ref_depthwise_kernels = {
    .forward = ref_forward,
    .backward_data = ref_backward_data,
    .backward_weights = ref_backward_weights,
};

/* Group norm, computed from the sums of each channel. Each sample is normalised by itself, so
 * workers that share a batch exchange nothing, and a batch may be computed in parts. A ReLU that
 * follows the norm is computed in the same loop over the values. The group norm layer calls these
 * functions. */
#include "train/kernels/kernels.h"

#include <math.h>
#include <string.h>

void group_norm_forward(const struct kernels *k, const struct group_norm_shape *s, const float *x,
                        const float *scale, const float *shift, float *y, float *saved,
                        float *scratch)
{
    int width = s->c / s->groups;
    size_t sample = s->rows * (size_t)s->c;
    float *sum = scratch, *centre = scratch + s->c, *square = scratch + 2 * s->c;
    float count = (float)s->rows * (float)width;
    for (int n = 0; n < s->n; n++, x += sample, y += sample, saved += 2 * s->groups) {
        memset(sum, 0, 3 * (size_t)s->c * sizeof(*sum));
        k->channel_sum(x, s->rows, s->c, sum);
        for (int g = 0; g < s->groups; g++) {
            float mean = 0;
            for (int i = 0; i < width; i++)
                mean += sum[g * width + i];
            mean /= count;
            saved[2 * g] = mean;
            for (int i = 0; i < width; i++)
                centre[g * width + i] = mean;
        }
        k->channel_square_sum(x, s->rows, s->c, centre, square);
        float *factor = sum, *offset = centre;
        for (int g = 0; g < s->groups; g++) {
            float variance = 0;
            for (int i = 0; i < width; i++)
                variance += square[g * width + i];
            float mean = saved[2 * g], inverse = 1 / sqrtf(variance / count + NORM_EPSILON);
            saved[2 * g + 1] = inverse;
            for (int c = g * width; c < (g + 1) * width; c++) {
                factor[c] = scale[c] * inverse;
                offset[c] = shift[c] - mean * factor[c];
            }
        }
        k->channel_affine(x, s->rows, s->c, factor, offset, s->relu, y);
    }
}

/* With z = (x − mean)·inverse over a group of `count` values and g = dy·scale: dx = inverse·(g −
 * mean(g) − z·mean(g·z)), which is dy·a + x·b + d with three constants per channel. */
void group_norm_backward(const struct kernels *k, const struct group_norm_shape *s, const float *x,
                         const float *y, const float *scale, const float *saved, const float *dy,
                         float *dx, bool accumulate, float *d_scale, float *d_shift, float *scratch)
{
    int width = s->c / s->groups;
    size_t sample = s->rows * (size_t)s->c;
    float *sum = scratch, *sum_x = scratch + s->c, *centre = scratch + 2 * s->c,
          *a = scratch + 3 * s->c, *b = scratch + 4 * s->c, *d = scratch + 5 * s->c;
    float count = (float)s->rows * (float)width;
    for (int n = 0; n < s->n;
         n++, x += sample, y += sample, dy += sample, dx += sample, saved += 2 * s->groups) {
        const float *mask = s->relu ? y : NULL;
        memset(sum, 0, 2 * (size_t)s->c * sizeof(*sum));
        for (int c = 0; c < s->c; c++)
            centre[c] = saved[2 * (c / width)];
        k->channel_gradient_sums(dy, mask, x, s->rows, s->c, centre, sum, sum_x);
        for (int g = 0; g < s->groups; g++) {
            float mean = saved[2 * g], inverse = saved[2 * g + 1], mean_g = 0, mean_gz = 0;
            for (int c = g * width; c < (g + 1) * width; c++) {
                mean_g += sum[c] * scale[c];
                mean_gz += sum_x[c] * inverse * scale[c];
                d_scale[c] += sum_x[c] * inverse;
                d_shift[c] += sum[c];
            }
            mean_g /= count;
            mean_gz /= count;
            for (int c = g * width; c < (g + 1) * width; c++) {
                a[c] = inverse * scale[c];
                b[c] = -inverse * inverse * mean_gz;
                d[c] = -inverse * mean_g - b[c] * mean;
            }
        }
        k->channel_gradient(dy, mask, x, s->rows, s->c, a, b, d, accumulate, dx);
    }
}

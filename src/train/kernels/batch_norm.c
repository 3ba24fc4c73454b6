/* Batch norm: normalises each channel by its mean and standard deviation over the whole batch. The
 * batch may be split into parts and between workers. Each part gives its count, its mean, and the
 * sum of squared distances from that mean. batch_norm_merge() merges these numbers, in the order of
 * the parts, into count, mean and variance of the batch. A variance that is computed from means and
 * squared distances does not suffer from the cancellation in a difference of two large sums. The
 * batch norm layer calls these functions. */
#include "train/kernels/kernels.h"

#include <math.h>
#include <string.h>

float batch_norm_deviation(float variance)
{
    return sqrtf(variance + NORM_EPSILON);
}

/* Sets ret_sums to count, mean[c], squares[c]. Each sample is summed separately, so that no float
 * accumulates too many terms. */
void batch_norm_sums(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                     float *ret_sums)
{
    size_t sample = s->rows * (size_t)s->c;
    float *mean = ret_sums + 1, *squares = mean + s->c;
    memset(ret_sums, 0, batch_norm_sum_count(s->c) * sizeof(*ret_sums));
    ret_sums[0] = (float)s->n * (float)s->rows;
    for (int n = 0; n < s->n; n++)
        k->channel_sum(x + (size_t)n * sample, s->rows, s->c, mean);
    for (int c = 0; s->n && c < s->c; c++)
        mean[c] /= ret_sums[0];
    for (int n = 0; n < s->n; n++)
        k->channel_square_sum(x + (size_t)n * sample, s->rows, s->c, mean, squares);
}

/* If two parts have a and b values, and their means differ by d, then the sum of squared distances
 * of both parts together is the sum of both sums plus d²·a·b/(a + b). */
void batch_norm_merge(int channels, const float *sums, size_t parts, float *ret_total)
{
    size_t stride = batch_norm_sum_count(channels);
    double count = 0;
    for (size_t p = 0; p < parts; p++)
        count += (double)sums[p * stride];
    ret_total[0] = (float)count;
    for (int c = 0; c < channels; c++) {
        double seen = 0, mean = 0, squares = 0;
        for (size_t p = 0; p < parts; p++) {
            const float *part = sums + p * stride;
            double more = (double)part[0], apart = (double)part[1 + c] - mean;
            if (more == 0)
                continue; /* an empty part, of a worker with a smaller share */
            mean += apart * more / (seen + more);
            squares += (double)part[1 + channels + c] + apart * apart * seen * more / (seen + more);
            seen += more;
        }
        ret_total[1 + c] = (float)mean;
        ret_total[1 + channels + c] = count > 0 ? (float)(squares / count) : 0;
    }
}

void batch_norm_forward(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                        const float *mean, const float *variance, const float *scale,
                        const float *shift, float *y, float *scratch)
{
    float *factor = scratch, *offset = scratch + s->c;
    for (int c = 0; c < s->c; c++) {
        factor[c] = scale[c] / batch_norm_deviation(variance[c]);
        offset[c] = shift[c] - mean[c] * factor[c];
    }
    k->channel_affine(x, (size_t)s->n * s->rows, s->c, factor, offset, s->relu, y);
}

/* Sets ret_sums to count, Σ dy and Σ dy·(x − mean) per channel. */
void batch_norm_gradient_sums(const struct kernels *k, const struct batch_norm_shape *s,
                              const float *x, const float *y, const float *mean, const float *dy,
                              float *ret_sums)
{
    size_t sample = s->rows * (size_t)s->c;
    memset(ret_sums, 0, batch_norm_sum_count(s->c) * sizeof(*ret_sums));
    ret_sums[0] = (float)s->n * (float)s->rows;
    for (int n = 0; n < s->n; n++, x += sample, y += sample, dy += sample)
        k->channel_gradient_sums(dy, s->relu ? y : NULL, x, s->rows, s->c, mean, ret_sums + 1,
                                 ret_sums + 1 + s->c);
}

void batch_norm_merge_gradient(int channels, const float *sums, size_t parts, float *ret_total)
{
    size_t stride = batch_norm_sum_count(channels);
    for (size_t i = 0; i < stride; i++) {
        double total = 0;
        for (size_t p = 0; p < parts; p++)
            total += (double)sums[p * stride + i];
        ret_total[i] = (float)total;
    }
}

/* With z = (x − mean)·inverse: dx = inverse·scale·(dy − mean(dy) − z·mean(dy·z)), where the means
 * are over the whole batch. That is dy·a + x·b + d with three constants per channel. If `total` is
 * NULL, mean and variance are constants and have no gradient. */
void batch_norm_backward(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                         const float *y, const float *mean, const float *variance,
                         const float *scale, const float *total, const float *dy, float *dx,
                         bool accumulate, float *scratch)
{
    float *a = scratch, *b = scratch + s->c, *d = scratch + 2 * s->c;
    for (int c = 0; c < s->c; c++) {
        float inverse = 1 / batch_norm_deviation(variance[c]);
        a[c] = inverse * scale[c];
        b[c] = total ? -a[c] * inverse * inverse * total[1 + s->c + c] / total[0] : 0;
        d[c] = total ? -a[c] * total[1 + c] / total[0] - b[c] * mean[c] : 0;
    }
    k->channel_gradient(dy, s->relu ? y : NULL, x, (size_t)s->n * s->rows, s->c, a, b, d,
                        accumulate, dx);
}

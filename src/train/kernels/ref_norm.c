/* The reference of group norm and batch norm: simple loops in double. Tests compare group_norm.c
 * and batch_norm.c with it. Training never calls it. */
#include "train/kernels/kernels.h"

#include <math.h>

void ref_group_norm_forward(const struct group_norm_shape *s, const float *x, const float *scale,
                            const float *shift, float *y, float *saved)
{
    int width = s->c / s->groups;
    for (int n = 0; n < s->n; n++)
        for (int g = 0; g < s->groups; g++) {
            const float *from = x + (size_t)n * s->rows * (size_t)s->c;
            float *to = y + (size_t)n * s->rows * (size_t)s->c;
            double count = (double)s->rows * width, mean = 0, variance = 0;
            for (size_t r = 0; r < s->rows; r++)
                for (int c = g * width; c < (g + 1) * width; c++)
                    mean += (double)from[r * (size_t)s->c + (size_t)c] / count;
            for (size_t r = 0; r < s->rows; r++)
                for (int c = g * width; c < (g + 1) * width; c++)
                    variance += pow((double)from[r * (size_t)s->c + (size_t)c] - mean, 2) / count;
            double inverse = 1 / sqrt(variance + (double)NORM_EPSILON);
            saved[(n * s->groups + g) * 2] = (float)mean;
            saved[(n * s->groups + g) * 2 + 1] = (float)inverse;
            for (size_t r = 0; r < s->rows; r++)
                for (int c = g * width; c < (g + 1) * width; c++) {
                    size_t at = r * (size_t)s->c + (size_t)c;
                    double value =
                        ((double)from[at] - mean) * inverse * (double)scale[c] + (double)shift[c];
                    to[at] = s->relu && value < 0 ? 0 : (float)value;
                }
        }
}

void ref_group_norm_backward(const struct group_norm_shape *s, const float *x, const float *y,
                             const float *scale, const float *saved, const float *dy, float *dx,
                             bool accumulate, float *d_scale, float *d_shift)
{
    int width = s->c / s->groups;
    for (int n = 0; n < s->n; n++)
        for (int g = 0; g < s->groups; g++) {
            size_t base = (size_t)n * s->rows * (size_t)s->c;
            double mean = (double)saved[(n * s->groups + g) * 2],
                   inverse = (double)saved[(n * s->groups + g) * 2 + 1];
            double count = (double)s->rows * width, mean_g = 0, mean_gz = 0;
            for (size_t r = 0; r < s->rows; r++)
                for (int c = g * width; c < (g + 1) * width; c++) {
                    size_t at = base + r * (size_t)s->c + (size_t)c;
                    double gradient = s->relu && !(y[at] > 0) ? 0 : (double)dy[at];
                    double z = ((double)x[at] - mean) * inverse;
                    mean_g += gradient * (double)scale[c] / count;
                    mean_gz += gradient * (double)scale[c] * z / count;
                    d_scale[c] += (float)(gradient * z);
                    d_shift[c] += (float)gradient;
                }
            for (size_t r = 0; r < s->rows; r++)
                for (int c = g * width; c < (g + 1) * width; c++) {
                    size_t at = base + r * (size_t)s->c + (size_t)c;
                    double gradient = s->relu && !(y[at] > 0) ? 0 : (double)dy[at];
                    double z = ((double)x[at] - mean) * inverse;
                    double value = inverse * (gradient * (double)scale[c] - mean_g - z * mean_gz);
                    dx[at] = (accumulate ? dx[at] : 0) + (float)value;
                }
        }
}

void ref_batch_norm_forward(const struct batch_norm_shape *s, const float *x, const float *scale,
                            const float *shift, float *y, float *ret_mean, float *ret_variance)
{
    size_t rows = (size_t)s->n * s->rows, channels = (size_t)s->c;
    for (size_t c = 0; c < channels; c++) {
        double mean = 0, variance = 0;
        for (size_t r = 0; r < rows; r++)
            mean += (double)x[r * channels + c] / (double)rows;
        for (size_t r = 0; r < rows; r++)
            variance += pow((double)x[r * channels + c] - mean, 2) / (double)rows;
        double inverse = 1 / sqrt(variance + (double)NORM_EPSILON);
        ret_mean[c] = (float)mean;
        ret_variance[c] = (float)variance;
        for (size_t r = 0; r < rows; r++) {
            double value = ((double)x[r * channels + c] - mean) * inverse * (double)scale[c] +
                           (double)shift[c];
            y[r * channels + c] = s->relu && value < 0 ? 0 : (float)value;
        }
    }
}

void ref_batch_norm_backward(const struct batch_norm_shape *s, const float *x, const float *y,
                             const float *scale, const float *mean, const float *variance,
                             const float *dy, float *dx, bool accumulate, float *d_scale,
                             float *d_shift)
{
    size_t rows = (size_t)s->n * s->rows, channels = (size_t)s->c;
    for (size_t c = 0; c < channels; c++) {
        double inverse = 1 / sqrt((double)variance[c] + (double)NORM_EPSILON), sum = 0, sum_z = 0;
        for (size_t r = 0; r < rows; r++) {
            size_t at = r * channels + c;
            double gradient = s->relu && !(y[at] > 0) ? 0 : (double)dy[at];
            sum += gradient;
            sum_z += gradient * ((double)x[at] - (double)mean[c]) * inverse;
        }
        d_scale[c] += (float)sum_z;
        d_shift[c] += (float)sum;
        for (size_t r = 0; r < rows; r++) {
            size_t at = r * channels + c;
            double gradient = s->relu && !(y[at] > 0) ? 0 : (double)dy[at];
            double z = ((double)x[at] - (double)mean[c]) * inverse;
            double value = inverse * (double)scale[c] *
                           (gradient - sum / (double)rows - z * sum_z / (double)rows);
            dx[at] = (accumulate ? dx[at] : 0) + (float)value;
        }
    }
}

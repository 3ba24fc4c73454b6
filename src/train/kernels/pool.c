/* Pooling and L2 normalisation. These are plain loops, because they take little time. Only the
 * gradient of a maximum uses vector code. The layers call these functions, except the reference. */
#include "train/kernels/kernels.h"

#include <math.h>
#include <string.h>

static void clear_unless(bool accumulate, const struct pool_shape *s, float *d_in)
{
    if (!accumulate)
        memset(d_in, 0, (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c * sizeof(*d_in));
}

static size_t window_count(const struct pool_shape *s)
{
    return (size_t)s->n * (size_t)pool_out_h(s) * (size_t)pool_out_w(s);
}

static size_t window_size(const struct pool_shape *s)
{
    return (size_t)s->window * (size_t)s->window;
}

/* Returns the offset of the channels of pixel `inside` of window `window`, both counted row by
 * row. */
static size_t pixel_offset(const struct pool_shape *s, size_t window, size_t inside)
{
    size_t w = (size_t)pool_out_w(s), h = (size_t)pool_out_h(s), edge = (size_t)s->window;
    size_t x = window % w * (size_t)s->stride + inside % edge,
           y = window / w % h * (size_t)s->stride + inside / edge, n = window / w / h;
    return ((n * (size_t)s->h + y) * (size_t)s->w + x) * (size_t)s->c;
}

void pool_max_forward(const struct pool_shape *s, const float *in, float *out)
{
    for (size_t o = 0; o < window_count(s); o++, out += s->c) {
        memcpy(out, in + pixel_offset(s, o, 0), (size_t)s->c * sizeof(*out));
        for (size_t i = 1; i < window_size(s); i++) {
            const float *from = in + pixel_offset(s, o, i);
            for (int c = 0; c < s->c; c++)
                out[c] = from[c] > out[c] ? from[c] : out[c];
        }
    }
}

void pool_max_backward_ref(const struct pool_shape *s, const float *in, const float *out,
                           const float *d_out, float *d_in, bool accumulate)
{
    clear_unless(accumulate, s, d_in);
    for (size_t o = 0; o < window_count(s); o++, out += s->c, d_out += s->c)
        for (int c = 0; c < s->c; c++) {
            size_t i = 0;
            while (i + 1 < window_size(s) && in[pixel_offset(s, o, i) + (size_t)c] != out[c])
                i++;
            d_in[pixel_offset(s, o, i) + (size_t)c] += d_out[c];
        }
}

void pool_max_backward(const struct kernels *k, const struct pool_shape *s, const float *in,
                       const float *out, const float *d_out, float *d_in, bool accumulate,
                       float *scratch)
{
    clear_unless(accumulate, s, d_in);
    for (size_t o = 0; o < window_count(s); o++, out += s->c, d_out += s->c) {
        memcpy(scratch, d_out, (size_t)s->c * sizeof(*d_out));
        for (size_t i = 0; i < window_size(s); i++) {
            size_t at = pixel_offset(s, o, i);
            k->max_gradient(in + at, out, s->c, scratch, d_in + at);
        }
    }
}

void pool_average_forward(const struct pool_shape *s, const float *in, float *out)
{
    float factor = 1 / (float)window_size(s);
    for (size_t o = 0; o < window_count(s); o++, out += s->c) {
        memset(out, 0, (size_t)s->c * sizeof(*out));
        for (size_t i = 0; i < window_size(s); i++) {
            const float *from = in + pixel_offset(s, o, i);
            for (int c = 0; c < s->c; c++)
                out[c] += from[c];
        }
        for (int c = 0; c < s->c; c++)
            out[c] *= factor;
    }
}

void pool_average_backward(const struct pool_shape *s, const float *d_out, float *d_in,
                           bool accumulate)
{
    float factor = 1 / (float)window_size(s);
    clear_unless(accumulate, s, d_in);
    for (size_t o = 0; o < window_count(s); o++, d_out += s->c)
        for (size_t i = 0; i < window_size(s); i++) {
            float *to = d_in + pixel_offset(s, o, i);
            for (int c = 0; c < s->c; c++)
                to[c] += d_out[c] * factor;
        }
}

void kernels_l2_normalise_forward(int n, int c, const float *in, float *out, float *ret_norm)
{
    for (int i = 0; i < n; i++, in += c, out += c) {
        double square = 0;
        for (int j = 0; j < c; j++)
            square += (double)in[j] * (double)in[j];
        float norm = (float)sqrt(square), factor = norm > 0 ? 1 / norm : 0;
        for (int j = 0; j < c; j++)
            out[j] = in[j] * factor;
        ret_norm[i] = norm;
    }
}

/* d_in = (d_out − out·(out·d_out)) / |in| */
void kernels_l2_normalise_backward(int n, int c, const float *out, const float *norm,
                                   const float *d_out, float *d_in, bool accumulate)
{
    for (int i = 0; i < n; i++, out += c, d_out += c, d_in += c) {
        double along = 0;
        for (int j = 0; j < c; j++)
            along += (double)out[j] * (double)d_out[j];
        float factor = norm[i] > 0 ? 1 / norm[i] : 0;
        for (int j = 0; j < c; j++) {
            float value = (d_out[j] - out[j] * (float)along) * factor;
            d_in[j] = accumulate ? d_in[j] + value : value;
        }
    }
}

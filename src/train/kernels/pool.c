/* Pooling and rows of length 1: small work, written plainly; the tests hold it against finite
 * differences. Called by the layers. */
#include "train/kernels/kernels.h"

#include <math.h>
#include <string.h>

static void clear_unless(bool accumulate, const struct pool_shape *s, float *d_in)
{
    if (!accumulate)
        memset(d_in, 0, (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c * sizeof(*d_in));
}

/* Where the channels of pixel (n, y, x) start. */
static size_t pixel(const struct pool_shape *s, int n, int y, int x)
{
    return (((size_t)n * (size_t)s->h + (size_t)y) * (size_t)s->w + (size_t)x) * (size_t)s->c;
}

#define EACH_WINDOW(s, n, oy, ox)                                                                  \
    for (int n = 0; n < (s)->n; n++)                                                               \
        for (int oy = 0; oy < pool_out_h(s); oy++)                                                 \
            for (int ox = 0; ox < pool_out_w(s); ox++)

#define EACH_IN_WINDOW(s, wy, wx)                                                                  \
    for (int wy = 0; wy < (s)->window; wy++)                                                       \
        for (int wx = 0; wx < (s)->window; wx++)

void max_pool_forward(const struct pool_shape *s, const float *in, float *out)
{
    EACH_WINDOW(s, n, oy, ox)
    {
        memcpy(out, in + pixel(s, n, oy * s->stride, ox * s->stride), (size_t)s->c * sizeof(*out));
        EACH_IN_WINDOW(s, wy, wx)
        {
            const float *from = in + pixel(s, n, oy * s->stride + wy, ox * s->stride + wx);
            for (int c = 0; c < s->c; c++)
                out[c] = from[c] > out[c] ? from[c] : out[c];
        }
        out += s->c;
    }
}

void max_pool_backward(const struct pool_shape *s, const float *in, const float *out,
                       const float *d_out, float *d_in, bool accumulate)
{
    clear_unless(accumulate, s, d_in);
    EACH_WINDOW(s, n, oy, ox)
    {
        for (int c = 0; c < s->c; c++) {
            bool given = false;
            EACH_IN_WINDOW(s, wy, wx)
            {
                size_t at = pixel(s, n, oy * s->stride + wy, ox * s->stride + wx) + (size_t)c;
                if (!given && in[at] == out[c]) {
                    d_in[at] += d_out[c];
                    given = true;
                }
            }
        }
        out += s->c;
        d_out += s->c;
    }
}

void average_pool_forward(const struct pool_shape *s, const float *in, float *out)
{
    float factor = 1 / ((float)s->window * (float)s->window);
    EACH_WINDOW(s, n, oy, ox)
    {
        memset(out, 0, (size_t)s->c * sizeof(*out));
        EACH_IN_WINDOW(s, wy, wx)
        {
            const float *from = in + pixel(s, n, oy * s->stride + wy, ox * s->stride + wx);
            for (int c = 0; c < s->c; c++)
                out[c] += from[c];
        }
        for (int c = 0; c < s->c; c++)
            out[c] *= factor;
        out += s->c;
    }
}

void average_pool_backward(const struct pool_shape *s, const float *d_out, float *d_in,
                           bool accumulate)
{
    float factor = 1 / ((float)s->window * (float)s->window);
    clear_unless(accumulate, s, d_in);
    EACH_WINDOW(s, n, oy, ox)
    {
        EACH_IN_WINDOW(s, wy, wx)
        {
            float *to = d_in + pixel(s, n, oy * s->stride + wy, ox * s->stride + wx);
            for (int c = 0; c < s->c; c++)
                to[c] += d_out[c] * factor;
        }
        d_out += s->c;
    }
}

void l2_normalise_forward(int n, int c, const float *in, float *out, float *ret_norm)
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
void l2_normalise_backward(int n, int c, const float *out, const float *norm, const float *d_out,
                           float *d_in, bool accumulate)
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

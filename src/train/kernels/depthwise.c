/* Depthwise convolution: each channel has its own window. The channels of a pixel are contiguous,
 * so every step is a vector product without a sum across lanes. The sums stay in registers over the
 * whole window. Built once per instruction set; the layer calls these functions through the table
 * of kernels. */
#include "train/kernels/simd.h"

/* VECTORS vectors of channels are in registers at the same time. TILE neighbouring pixels share
 * each load of the weights. */
enum { VECTORS = 2, BLOCK = VECTORS * LANES, TILE = 4 };

/* Loads the first `width` lanes and sets the others to 0. `width` is a constant after inlining. */
ALWAYS_INLINE vec depthwise_load_some(int width, const float *from)
{
    if (width == LANES)
        return simd_load(from);
    vec value = {0};
    for (int i = 0; i < width; i++)
        value[i] = from[i];
    return value;
}

ALWAYS_INLINE void depthwise_store_some(int width, float *to, vec value)
{
    if (width == LANES)
        simd_store(to, value);
    else
        for (int i = 0; i < width; i++)
            to[i] = value[i];
}

static size_t pixel_offset(int w, int c, int y, int x)
{
    return ((size_t)y * (size_t)w + (size_t)x) * (size_t)c;
}

/* Sets the range of taps of the window of output `o` that lie inside the picture: *ret_first to
 * *ret_end - 1. `edge` is the size of the picture along this axis. */
ALWAYS_INLINE void depthwise_taps(int o, int stride, int pad, int kernel, int edge, int *ret_first,
                                  int *ret_end)
{
    int start = o * stride - pad;
    *ret_first = start < 0 ? -start : 0;
    *ret_end = start + kernel > edge ? edge - start : kernel;
}

/* Computes `vectors` vectors of `width` channels each, for `pixels` neighbouring outputs whose
 * windows have the same taps. `flip` reverses the weights, which gives the gradient of the input
 * for a stride of one. */
ALWAYS_INLINE void depthwise_forward_tile(const struct depthwise_shape *s, int vectors, int width,
                                          int pixels, bool flip, bool accumulate, int oy, int ox,
                                          const float *in, const float *weights, float *out)
{
    vec sum[TILE][VECTORS] = {0};
    int ky0, ky1, kx0, kx1, y = oy * s->stride - s->pad, x = ox * s->stride - s->pad;
    size_t next = (size_t)s->stride * (size_t)s->c;
    depthwise_taps(oy, s->stride, s->pad, s->kernel, s->h, &ky0, &ky1);
    depthwise_taps(ox, s->stride, s->pad, s->kernel, s->w, &kx0, &kx1);
    for (int ky = ky0; ky < ky1; ky++)
        for (int kx = kx0; kx < kx1; kx++) {
            int last = s->kernel - 1;
            const float *from = in + pixel_offset(s->w, s->c, y + ky, x + kx), *w = weights;
            w += flip ? pixel_offset(s->kernel, s->c, last - ky, last - kx)
                      : pixel_offset(s->kernel, s->c, ky, kx);
            UNROLL
            for (int v = 0; v < vectors; v++) {
                vec factor = depthwise_load_some(width, w + v * LANES);
                UNROLL
                for (int p = 0; p < pixels; p++)
                    sum[p][v] +=
                        depthwise_load_some(width, from + (size_t)p * next + v * LANES) * factor;
            }
        }
    float *to = out + pixel_offset(depthwise_out_w(s), s->c, oy, ox);
    UNROLL
    for (int p = 0; p < pixels; p++, to += s->c) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            depthwise_store_some(width, to + v * LANES,
                                 accumulate ? depthwise_load_some(width, to + v * LANES) + sum[p][v]
                                            : sum[p][v]);
    }
}

ALWAYS_INLINE void depthwise_forward_block(const struct depthwise_shape *s, int vectors, int width,
                                           bool flip, bool accumulate, const float *in,
                                           const float *weights, float *out)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    /* The outputs from `inner` to outer - 1 have their whole window inside the row. */
    int inner = (s->pad + s->stride - 1) / s->stride,
        outer = s->w + s->pad < s->kernel ? 0 : (s->w + s->pad - s->kernel) / s->stride + 1;
    for (int oy = 0; oy < oh; oy++)
        for (int ox = 0; ox < ow;) {
            bool tile = ox >= inner && ox + TILE <= outer;
            if (tile)
                depthwise_forward_tile(s, vectors, width, TILE, flip, accumulate, oy, ox, in,
                                       weights, out);
            else
                depthwise_forward_tile(s, vectors, width, 1, flip, accumulate, oy, ox, in, weights,
                                       out);
            ox += tile ? TILE : 1;
        }
}

/* Computes the gradient of each input: the sum over all outputs that use the input, each times its
 * weight. */
ALWAYS_INLINE void depthwise_data_block(const struct depthwise_shape *s, int vectors, int width,
                                        const float *d_out, const float *weights, float *d_in,
                                        bool accumulate)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->w; x++) {
            vec sum[VECTORS] = {0};
            for (int ky = (y + s->pad) % s->stride; ky < s->kernel; ky += s->stride) {
                int oy = (y + s->pad - ky) / s->stride;
                if (y + s->pad < ky || oy >= oh)
                    continue;
                for (int kx = (x + s->pad) % s->stride; kx < s->kernel; kx += s->stride) {
                    int ox = (x + s->pad - kx) / s->stride;
                    if (x + s->pad < kx || ox >= ow)
                        continue;
                    const float *d = d_out + pixel_offset(ow, s->c, oy, ox),
                                *w = weights + pixel_offset(s->kernel, s->c, ky, kx);
                    UNROLL
                    for (int v = 0; v < vectors; v++)
                        sum[v] += depthwise_load_some(width, d + v * LANES) *
                                  depthwise_load_some(width, w + v * LANES);
                }
            }
            float *to = d_in + pixel_offset(s->w, s->c, y, x);
            UNROLL
            for (int v = 0; v < vectors; v++)
                depthwise_store_some(
                    width, to + v * LANES,
                    accumulate ? depthwise_load_some(width, to + v * LANES) + sum[v] : sum[v]);
        }
}

/* Sets the range of outputs whose tap `k` lies inside the picture: *ret_first to *ret_end - 1.
 * `edge` is the size of the picture along this axis, and `count` the number of outputs. */
ALWAYS_INLINE void depthwise_outputs(int k, int stride, int pad, int edge, int count,
                                     int *ret_first, int *ret_end)
{
    *ret_first = k < pad ? (pad - k + stride - 1) / stride : 0;
    int last = edge - 1 + pad - k < 0 ? 0 : (edge - 1 + pad - k) / stride + 1;
    *ret_end = last < count ? last : count;
}

ALWAYS_INLINE void depthwise_weights_block(const struct depthwise_shape *s, int vectors, int width,
                                           const float *in, const float *d_out, float *d_weights)
{
    int oh = depthwise_out_h(s), ow = depthwise_out_w(s);
    size_t next = (size_t)s->stride * (size_t)s->c;
    for (int ky = 0; ky < s->kernel; ky++)
        for (int kx = 0; kx < s->kernel; kx++) {
            vec sum[TILE][VECTORS] = {
                0}; /* independent sums, so that no addition waits for another */
            int oy0, oy1, ox0, ox1;
            depthwise_outputs(ky, s->stride, s->pad, s->h, oh, &oy0, &oy1);
            depthwise_outputs(kx, s->stride, s->pad, s->w, ow, &ox0, &ox1);
            for (int oy = oy0; oy < oy1; oy++) {
                const float *from = in + pixel_offset(s->w, s->c, oy * s->stride + ky - s->pad,
                                                      ox0 * s->stride + kx - s->pad),
                            *d = d_out + pixel_offset(ow, s->c, oy, ox0);
                int ox = ox0;
                for (; ox + TILE <= ox1; ox += TILE) {
                    UNROLL
                    for (int p = 0; p < TILE; p++, from += next, d += s->c) {
                        UNROLL
                        for (int v = 0; v < vectors; v++)
                            sum[p][v] += depthwise_load_some(width, from + v * LANES) *
                                         depthwise_load_some(width, d + v * LANES);
                    }
                }
                for (; ox < ox1; ox++, from += next, d += s->c) {
                    UNROLL
                    for (int v = 0; v < vectors; v++)
                        sum[0][v] += depthwise_load_some(width, from + v * LANES) *
                                     depthwise_load_some(width, d + v * LANES);
                }
            }
            float *to = d_weights + pixel_offset(s->kernel, s->c, ky, kx);
            UNROLL
            for (int v = 0; v < vectors; v++) {
                vec total = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
                depthwise_store_some(width, to + v * LANES,
                                     depthwise_load_some(width, to + v * LANES) + total);
            }
        }
}

/* Calls the macro `call` for every sample and every block of channels. The last blocks are
 * narrower. */
#define EACH_BLOCK(call)                                                                           \
    for (int n = 0; n < s->n; n++)                                                                 \
        for (int from = 0, left; (left = s->c - from) > 0;) {                                      \
            size_t i = pixel_offset(s->w, s->c, n * s->h, 0) + (size_t)from,                       \
                   o = pixel_offset(depthwise_out_w(s), s->c, n * depthwise_out_h(s), 0) +         \
                       (size_t)from;                                                               \
            if (left >= BLOCK) {                                                                   \
                call(VECTORS, LANES);                                                              \
                from += BLOCK;                                                                     \
            } else if (left >= LANES) {                                                            \
                call(1, LANES);                                                                    \
                from += LANES;                                                                     \
            } else {                                                                               \
                call(1, left);                                                                     \
                from += left;                                                                      \
            }                                                                                      \
        }

static void depthwise_forward(const struct depthwise_shape *s, const float *in,
                              const float *weights, float *out)
{
#define CALL(vectors, width)                                                                       \
    depthwise_forward_block(s, vectors, width, false, false, in + i, weights + from, out + o)
    EACH_BLOCK(CALL)
#undef CALL
}

static void backward_data_strided(const struct depthwise_shape *s, const float *d_out,
                                  const float *weights, float *d_in, bool accumulate)
{
#define CALL(vectors, width)                                                                       \
    depthwise_data_block(s, vectors, width, d_out + o, weights + from, d_in + i, accumulate)
    EACH_BLOCK(CALL)
#undef CALL
}

/* With a stride of 1 this is the forward pass with reversed weights, from the outputs to the
 * inputs. */
static void backward_data_plain(const struct depthwise_shape *s, const float *d_out,
                                const float *weights, float *d_in, bool accumulate)
{
#define CALL(vectors, width)                                                                       \
    (accumulate ? depthwise_forward_block(s, vectors, width, true, true, d_out + i,                \
                                          weights + from, d_in + o)                                \
                : depthwise_forward_block(s, vectors, width, true, false, d_out + i,               \
                                          weights + from, d_in + o))
    EACH_BLOCK(CALL)
#undef CALL
}

static void depthwise_backward_data(const struct depthwise_shape *s, const float *d_out,
                                    const float *weights, float *d_in, bool accumulate)
{
    struct depthwise_shape back = *s;
    back.h = depthwise_out_h(s);
    back.w = depthwise_out_w(s);
    back.pad = s->kernel - 1 - s->pad;
    if (s->stride == 1)
        backward_data_plain(&back, d_out, weights, d_in, accumulate);
    else
        backward_data_strided(s, d_out, weights, d_in, accumulate);
}

static void depthwise_backward_weights(const struct depthwise_shape *s, const float *in,
                                       const float *d_out, float *d_weights)
{
#define CALL(vectors, width)                                                                       \
    depthwise_weights_block(s, vectors, width, in + i, d_out + o, d_weights + from)
    EACH_BLOCK(CALL)
#undef CALL
}

const struct depthwise_kernels SIMD(depthwise) = {
    .forward = depthwise_forward,
    .backward_data = depthwise_backward_data,
    .backward_weights = depthwise_backward_weights,
};

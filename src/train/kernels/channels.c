/* Sums and affine maps over pixels × channels, ReLU, rounding and rounded addition, for the norms,
 * the residual additions and the sums of gradients. Built once per instruction set. The loops run
 * along the channels, so the compiler can vectorise them without reordering sums. Layers and the
 * team call these functions through the table at the end of this file. */
#include "train/kernels/bf16.h"
#include "train/kernels/simd.h"

/* Channels are computed in blocks that fit in registers, so that a sum is stored once instead of
 * once per pixel. BLOCKS divides `c` channels into blocks, and calls a macro for each block. The
 * block starts at channel `from`. It has BLOCK or LANES channels, both of which are constants for
 * the compiler, or the channels that are left. */
enum { BLOCK = 4 * LANES };

#define BLOCKS(width, c, ...)                                                                      \
    for (int from = 0; from < (c);) {                                                              \
        int width = (c)-from >= BLOCK ? BLOCK : (c)-from >= LANES ? LANES : (c)-from;              \
        if (width == BLOCK) {                                                                      \
            __VA_ARGS__(BLOCK);                                                                    \
        } else if (width == LANES) {                                                               \
            __VA_ARGS__(LANES);                                                                    \
        } else {                                                                                   \
            __VA_ARGS__(width);                                                                    \
        }                                                                                          \
        from += width;                                                                             \
    }

ALWAYS_INLINE void channels_sum_block(int width, const float *x, size_t rows, int c, float *sum)
{
    float total[BLOCK] = {0};
    for (size_t r = 0; r < rows; r++, x += c)
        for (int i = 0; i < width; i++)
            total[i] += x[i];
    for (int i = 0; i < width; i++)
        sum[i] += total[i];
}

static void channel_sum(const float *x, size_t rows, int c, float *sum){
#define ONE(width) channels_sum_block(width, x + from, rows, c, sum + from)
    BLOCKS(width, c, ONE)
#undef ONE
}

ALWAYS_INLINE void channels_square_block(int width, const float *x, size_t rows, int c,
                                         const float *centre, float *sum)
{
    float total[BLOCK] = {0};
    for (size_t r = 0; r < rows; r++, x += c)
        for (int i = 0; i < width; i++)
            total[i] += (x[i] - centre[i]) * (x[i] - centre[i]);
    for (int i = 0; i < width; i++)
        sum[i] += total[i];
}

static void channel_square_sum(const float *x, size_t rows, int c, const float *centre, float *sum){
#define ONE(width) channels_square_block(width, x + from, rows, c, centre + from, sum + from)
    BLOCKS(width, c, ONE)
#undef ONE
}

ALWAYS_INLINE
    void channels_affine_block(int width, const float *x, size_t rows, int c, const float *scale,
                               const float *shift, bool relu, float *y)
{
    for (size_t r = 0; r < rows; r++, x += c, y += c)
        for (int i = 0; i < width; i++) {
            float value = x[i] * scale[i] + shift[i];
            y[i] = relu && !(value > 0) ? 0 : value;
        }
}

static void channel_affine(const float *x, size_t rows, int c, const float *scale,
                           const float *shift, bool relu, float *y){
#define ONE(width)                                                                                 \
    (relu ? channels_affine_block(width, x + from, rows, c, scale + from, shift + from, true,      \
                                  y + from)                                                        \
          : channels_affine_block(width, x + from, rows, c, scale + from, shift + from, false,     \
                                  y + from))
    BLOCKS(width, c, ONE)
#undef ONE
}

ALWAYS_INLINE void channels_gradient_sums_block(int width, bool masked, const float *dy,
                                                const float *y, const float *x, size_t rows, int c,
                                                const float *centre, float *sum_dy, float *sum_dy_x)
{
    float total[BLOCK] = {0}, total_x[BLOCK] = {0};
    for (size_t r = 0; r < rows; r++, dy += c, x += c) {
        for (int i = 0; i < width; i++) {
            float d = masked && !(y[i] > 0) ? 0 : dy[i];
            total[i] += d;
            total_x[i] += d * (x[i] - centre[i]);
        }
        if (masked)
            y += c;
    }
    for (int i = 0; i < width; i++) {
        sum_dy[i] += total[i];
        sum_dy_x[i] += total_x[i];
    }
}

static void channel_gradient_sums(const float *dy, const float *y, const float *x, size_t rows,
                                  int c, const float *centre, float *sum_dy, float *sum_dy_x){
#define ONE(width)                                                                                 \
    (y ? channels_gradient_sums_block(width, true, dy + from, y + from, x + from, rows, c,         \
                                      centre + from, sum_dy + from, sum_dy_x + from)               \
       : channels_gradient_sums_block(width, false, dy + from, NULL, x + from, rows, c,            \
                                      centre + from, sum_dy + from, sum_dy_x + from))
    BLOCKS(width, c, ONE)
#undef ONE
}

ALWAYS_INLINE
    void channels_gradient_block(int width, bool masked, bool accumulate, const float *dy,
                                 const float *y, const float *x, size_t rows, int c, const float *a,
                                 const float *b, const float *d, float *dx)
{
    for (size_t r = 0; r < rows; r++, dy += c, x += c, dx += c) {
        for (int i = 0; i < width; i++) {
            float g = masked && !(y[i] > 0) ? 0 : dy[i];
            float value = g * a[i] + x[i] * b[i] + d[i];
            dx[i] = accumulate ? dx[i] + value : value;
        }
        if (masked)
            y += c;
    }
}

static void channel_gradient(const float *dy, const float *y, const float *x, size_t rows, int c,
                             const float *a, const float *b, const float *d, bool accumulate,
                             float *dx)
{
#define GO(width, masked, add)                                                                     \
    channels_gradient_block(width, masked, add, dy + from, (masked) ? y + from : NULL, x + from,   \
                            rows, c, a + from, b + from, d + from, dx + from)
#define ONE(width)                                                                                 \
    (y ? (accumulate ? GO(width, true, true) : GO(width, true, false))                             \
       : (accumulate ? GO(width, false, true) : GO(width, false, false)))
    BLOCKS(width, c, ONE)
#undef ONE
#undef GO
}

static void channel_relu(const float *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] > 0 ? in[i] : 0;
}

static void channel_add_relu(const float *a, const float *b, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        float value = a[i] + b[i];
        out[i] = value > 0 ? value : 0;
    }
}

static void relu_gradient(const float *d_out, const float *out, size_t count, bool accumulate,
                          float *d_in)
{
    if (accumulate)
        for (size_t i = 0; i < count; i++)
            d_in[i] += out[i] > 0 ? d_out[i] : 0;
    else
        for (size_t i = 0; i < count; i++)
            d_in[i] = out[i] > 0 ? d_out[i] : 0;
}

static void max_gradient(const float *in, const float *out, int c, float *left, float *d_in)
{
    for (int i = 0; i < c; i++) {
        bool here = in[i] == out[i];
        d_in[i] += here ? left[i] : 0;
        left[i] = here ? 0 : left[i];
    }
}

static inline float add_one_rounded(float x, float push, float largest, float *total)
{
    float pushed = x + push, magnitude = x < 0 ? -x : x;
    *total += pushed - push;
    return magnitude > largest ? magnitude : largest;
}

static float add_rounded(const float *x, float quantum, size_t count, float *total)
{
    /* Adding and subtracting this number rounds x to a multiple of the quantum, for |x| up to 2^22
     * quanta. */
    float push = quantum * 12582912.0f; /* 1.5 · 2^23 */
    float found[LANES] = {0}, largest = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            found[l] = add_one_rounded(x[i + l], push, found[l], &total[i + l]);
    for (; i < count; i++)
        largest = add_one_rounded(x[i], push, largest, &total[i]);
    for (int l = 0; l < LANES; l++)
        largest = found[l] > largest ? found[l] : largest;
    return largest;
}

static void round_bf16(const float *x, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = bf16_value(bf16_round(x[i]));
}

const struct kernels SIMD(kernels) = {
    .name = SIMD_TEXT(KERNELS_NAME),
    .conv = &SIMD(conv_direct),
    .depthwise = &SIMD(depthwise),
    .channel_sum = channel_sum,
    .channel_square_sum = channel_square_sum,
    .channel_affine = channel_affine,
    .channel_gradient_sums = channel_gradient_sums,
    .channel_gradient = channel_gradient,
    .relu = channel_relu,
    .add_relu = channel_add_relu,
    .relu_gradient = relu_gradient,
    .max_gradient = max_gradient,
    .add_rounded = add_rounded,
    .round_bf16 = round_bf16,
};

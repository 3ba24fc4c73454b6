/* Convolution without gathering patches. In NHWC order the window's row of one output pixel is one
 * run of kernel·in floats, so the product needs no rows made for it: the input is copied once with
 * its zero border, and the inner loop multiplies values straight from there with a panel of
 * weights, holding a tile of pixels × channels in registers. The way back to the input is the same
 * product with turned weights, taken apart by stride into classes of pixels that see the same
 * taps, so no multiplication with an inserted zero is done; the way to the weights holds a tile
 * of taps × channels over all pixels.
 *
 * Built once for each instruction set; reached through the table of channels.c. Takes output
 * channels in whole vectors only; input channels likewise for the way back, else OpenBLAS does that
 * part. */
#include "train/kernels/simd.h"

#include <string.h>

/* As many accumulators as the registers hold beside the operands. The forward tile is limited by
 * general registers too: each of its rows has a pointer of its own. */
#if KERNELS_LANES == 16
enum { TILE_ROWS = 8, TILE_TAPS = 12 };
#elif KERNELS_LANES == 8 || defined(__x86_64__)
enum { TILE_ROWS = 6, TILE_TAPS = 6 };
#else
enum { TILE_ROWS = 8, TILE_TAPS = 8 };
#endif

/* A panel is two vectors of output columns wide, the last one perhaps one. */
enum { PANEL = 2 * LANES };

/* How pixels lie in the (bordered) source and in the target, in floats. */
struct grid {
    int n, h, w;
    size_t from_n, from_y, from_x;
    size_t to_n, to_y, to_x;
};

/* The runs of the source that one target pixel sees. */
struct taps {
    int runs;
    size_t length, stride;
};

ALWAYS_INLINE void product_tile(int vectors, const float *const *from, float *const *to, int rows,
                                const struct taps *taps, const float *panel, bool accumulate)
{
    /* One array a vector, and no loop over them: compilers keep these in registers. */
    vec low[TILE_ROWS], high[TILE_ROWS];
    const float *at[TILE_ROWS];
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++) {
        at[m] = from[m];
        low[m] = high[m] = (vec){0};
    }
    for (int run = 0; run < taps->runs; run++) {
        for (size_t k = 0; k < taps->length; k++, panel += vectors * LANES) {
            vec first = load(panel), second = vectors > 1 ? load(panel + LANES) : first;
            UNROLL
            for (int m = 0; m < TILE_ROWS; m++) {
                low[m] += at[m][k] * first;
                if (vectors > 1)
                    high[m] += at[m][k] * second;
            }
        }
        UNROLL
        for (int m = 0; m < TILE_ROWS; m++)
            at[m] += taps->stride;
    }
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++)
        if (m < rows) {
            store(to[m], accumulate ? load(to[m]) + low[m] : low[m]);
            if (vectors > 1)
                store(to[m] + LANES, accumulate ? load(to[m] + LANES) + high[m] : high[m]);
        }
}

/* All pixels of the grid by one panel. */
ALWAYS_INLINE void product_panel(int vectors, const struct grid *grid, const struct taps *taps,
                                 const float *source, const float *panel, float *target,
                                 bool accumulate)
{
    const float *from[TILE_ROWS];
    float *to[TILE_ROWS];
    int rows = 0;
    for (int n = 0; n < grid->n; n++)
        for (int y = 0; y < grid->h; y++) {
            const float *from_line = source + (size_t)n * grid->from_n + (size_t)y * grid->from_y;
            float *to_line = target + (size_t)n * grid->to_n + (size_t)y * grid->to_y;
            for (int x = 0; x < grid->w; x++) {
                from[rows] = from_line + (size_t)x * grid->from_x;
                to[rows] = to_line + (size_t)x * grid->to_x;
                if (++rows == TILE_ROWS) {
                    product_tile(vectors, from, to, rows, taps, panel, accumulate);
                    rows = 0;
                }
            }
        }
    if (rows) {
        for (int m = rows; m < TILE_ROWS; m++) /* computed and not stored */
            from[m] = from[rows - 1], to[m] = to[rows - 1];
        product_tile(vectors, from, to, rows, taps, panel, accumulate);
    }
}

/* target[pixel][columns] = taps of source × packed panels */
static void product(const struct grid *grid, const struct taps *taps, const float *source,
                    const float *packed, int columns, float *target, bool accumulate)
{
    size_t depth = (size_t)taps->runs * taps->length;
    for (int column = 0; column < columns; column += PANEL) {
        const float *panel = packed + (size_t)column * depth;
        if (columns - column >= PANEL)
            product_panel(2, grid, taps, source, panel, target + column, accumulate);
        else
            product_panel(1, grid, taps, source, panel, target + column, accumulate);
    }
}

static void copy_bordered(int n, int h, int w, int c, const float *from, int top, int left,
                          int to_h, int to_w, float *to)
{
    size_t line = (size_t)w * (size_t)c, to_line = (size_t)to_w * (size_t)c;
    size_t before = (size_t)left * (size_t)c;
    for (int i = 0; i < n; i++)
        for (int y = 0; y < to_h; y++, to += to_line) {
            if (y < top || y >= top + h) {
                memset(to, 0, to_line * sizeof(*to));
                continue;
            }
            memset(to, 0, before * sizeof(*to));
            memcpy(to + before, from, line * sizeof(*to));
            memset(to + before + line, 0, (to_line - before - line) * sizeof(*to));
            from += line;
        }
}

/* The target pixels stride·i + phase of one axis: they see `taps` of the window, the last of which
 * (in order of growing output position) is `kernel_first`, and the first lies at output position
 * i + offset. */
struct phase {
    int count; /* how many pixels of the axis are of this phase */
    int taps;
    int kernel_first;
    int offset;
};

static struct phase phase_of(const struct conv_shape *s, int size, int phase)
{
    int first = (phase + s->pad) % s->stride;
    int taps = first < s->kernel ? (s->kernel - first + s->stride - 1) / s->stride : 0;
    return (struct phase){
        .count = size > phase ? (size - phase + s->stride - 1) / s->stride : 0,
        .taps = taps,
        .kernel_first = first,
        .offset = (phase + s->pad - first) / s->stride - (taps - 1),
    };
}

/* A border that holds every tap of every phase. */
static int back_border(const struct conv_shape *s)
{
    return (s->kernel - 1) / s->stride + 1;
}

static int back_size(const struct conv_shape *s, int out, int size)
{
    int reach = (size - 1 + s->pad) / s->stride + 1;
    return back_border(s) + (reach > out ? reach : out) + 1;
}

static bool direct_fits(const struct conv_shape *s)
{
    return s->out % LANES == 0;
}

static bool back_fits(const struct conv_shape *s)
{
    return s->in % LANES == 0;
}

static size_t direct_packed_count(const struct conv_shape *s)
{
    return 2 * conv_weights_count(s);
}

static size_t direct_scratch_count(const struct conv_shape *s)
{
    size_t forward =
        (size_t)s->n * (size_t)(s->h + 2 * s->pad) * (size_t)(s->w + 2 * s->pad) * (size_t)s->in;
    size_t back = back_fits(s) ? (size_t)s->n * (size_t)back_size(s, conv_out_h(s), s->h) *
                                     (size_t)back_size(s, conv_out_w(s), s->w) * (size_t)s->out
                               : conv_kernels_gemm.scratch_count(s);
    return forward > back ? forward : back;
}

/* Rows of `columns` values into panels: packed[panel][row][PANEL]. */
static void pack_row(const float *row, int columns, size_t depth, size_t position, float *packed)
{
    for (int column = 0; column < columns; column += PANEL) {
        int width = columns - column < PANEL ? columns - column : PANEL;
        float *to = packed + (size_t)column * depth + position * (size_t)width;
        for (int i = 0; i < width; i++)
            to[i] = row[column + i];
    }
}

/* The same for the columns of one tap's turned weights: rows packed[position …][PANEL] are its
 * columns. A vector of rows at a time, so that a line of the weights is read once. */
static void pack_turned(const float *tap, int rows, int columns, size_t depth, size_t position,
                        float *packed)
{
    for (int column = 0; column < columns; column += PANEL) {
        int width = columns - column < PANEL ? columns - column : PANEL;
        for (int row = 0; row < rows; row += LANES) {
            float *to = packed + (size_t)column * depth + (position + (size_t)row) * (size_t)width;
            const float *from = tap + (size_t)column * (size_t)rows + row;
            for (int i = 0; i < width; i++, from += rows)
                for (int l = 0; l < LANES; l++)
                    to[l * width + i] = from[l];
        }
    }
}

static void direct_pack(const struct conv_shape *s, const float *weights, float *packed)
{
    size_t depth = (size_t)s->kernel * (size_t)s->kernel * (size_t)s->in;
    for (size_t k = 0; k < depth; k++)
        pack_row(weights + k * (size_t)s->out, s->out, depth, k, packed);
    packed += conv_weights_count(s);
    if (!back_fits(s)) {
        memcpy(packed, weights, conv_weights_count(s) * sizeof(*weights));
        return;
    }
    for (int py = 0; py < s->stride; py++)
        for (int px = 0; px < s->stride; px++) {
            struct phase y = phase_of(s, s->h, py), x = phase_of(s, s->w, px);
            depth = (size_t)y.taps * (size_t)x.taps * (size_t)s->out;
            size_t position = 0;
            for (int ty = y.taps - 1; ty >= 0; ty--)
                for (int tx = x.taps - 1; tx >= 0; tx--) {
                    size_t ky = (size_t)y.kernel_first + (size_t)ty * (size_t)s->stride,
                           kx = (size_t)x.kernel_first + (size_t)tx * (size_t)s->stride;
                    const float *tap =
                        weights + (ky * (size_t)s->kernel + kx) * (size_t)s->in * (size_t)s->out;
                    pack_turned(tap, s->out, s->in, depth, position, packed);
                    position += (size_t)s->out;
                }
            packed += depth * (size_t)s->in;
        }
}

static void direct_forward(const struct conv_shape *s, const float *in, const float *packed,
                           float *out, float *scratch)
{
    int h = s->h + 2 * s->pad, w = s->w + 2 * s->pad, oh = conv_out_h(s), ow = conv_out_w(s);
    const float *source = in;
    if (s->pad) {
        copy_bordered(s->n, s->h, s->w, s->in, in, s->pad, s->pad, h, w, scratch);
        source = scratch;
    }
    size_t pixel = (size_t)s->in, line = (size_t)w * pixel, to = (size_t)s->out;
    struct grid grid = {
        .n = s->n,
        .h = oh,
        .w = ow,
        .from_n = (size_t)h * line,
        .from_y = (size_t)s->stride * line,
        .from_x = (size_t)s->stride * pixel,
        .to_n = (size_t)oh * (size_t)ow * to,
        .to_y = (size_t)ow * to,
        .to_x = to,
    };
    struct taps taps = {.runs = s->kernel, .length = (size_t)s->kernel * pixel, .stride = line};
    product(&grid, &taps, source, packed, s->out, out, false);
}

static void direct_backward_data(const struct conv_shape *s, const float *d_out,
                                 const float *packed, float *d_in, bool accumulate, float *scratch)
{
    packed += conv_weights_count(s);
    if (!back_fits(s)) {
        conv_kernels_gemm.backward_data(s, d_out, packed, d_in, accumulate, scratch);
        return;
    }
    int oh = conv_out_h(s), ow = conv_out_w(s), border = back_border(s);
    int h = back_size(s, oh, s->h), w = back_size(s, ow, s->w);
    copy_bordered(s->n, oh, ow, s->out, d_out, border, border, h, w, scratch);
    size_t pixel = (size_t)s->out, line = (size_t)w * pixel;
    size_t to = (size_t)s->in, to_line = (size_t)s->w * to;
    if (s->kernel < s->stride && !accumulate) /* pixels that no window sees */
        memset(d_in, 0, (size_t)s->n * (size_t)s->h * to_line * sizeof(*d_in));
    for (int py = 0; py < s->stride; py++)
        for (int px = 0; px < s->stride; px++) {
            struct phase y = phase_of(s, s->h, py), x = phase_of(s, s->w, px);
            if (y.taps == 0 || x.taps == 0)
                continue;
            struct grid grid = {
                .n = s->n,
                .h = y.count,
                .w = x.count,
                .from_n = (size_t)h * line,
                .from_y = line,
                .from_x = pixel,
                .to_n = (size_t)s->h * to_line,
                .to_y = (size_t)s->stride * to_line,
                .to_x = (size_t)s->stride * to,
            };
            struct taps taps = {.runs = y.taps, .length = (size_t)x.taps * pixel, .stride = line};
            product(&grid, &taps,
                    scratch + (size_t)(border + y.offset) * line +
                        (size_t)(border + x.offset) * pixel,
                    packed, s->in, d_in + (size_t)py * to_line + (size_t)px * to, accumulate);
            packed += (size_t)y.taps * (size_t)x.taps * pixel * to;
        }
}

/* What the tile of weights needs of the pixels. */
struct pixels {
    int n, h, w;
    size_t from_n, from_y, from_x;
    const float *d_out;
    size_t channels;
};

ALWAYS_INLINE void weights_tile(int taps, int vectors, const struct pixels *p, const float *from,
                                int column, float *d_weights)
{
    vec low[TILE_TAPS], high[TILE_TAPS];
    UNROLL
    for (int m = 0; m < taps; m++)
        low[m] = high[m] = (vec){0};
    const float *d = p->d_out + column;
    for (int n = 0; n < p->n; n++)
        for (int y = 0; y < p->h; y++) {
            const float *at = from + (size_t)n * p->from_n + (size_t)y * p->from_y;
            for (int x = 0; x < p->w; x++, at += p->from_x, d += p->channels) {
                vec first = load(d), second = vectors > 1 ? load(d + LANES) : first;
                UNROLL
                for (int m = 0; m < taps; m++) {
                    low[m] += at[m] * first;
                    if (vectors > 1)
                        high[m] += at[m] * second;
                }
            }
        }
    UNROLL
    for (int m = 0; m < taps; m++) {
        float *to = d_weights + (size_t)m * p->channels + (size_t)column;
        store(to, load(to) + low[m]);
        if (vectors > 1)
            store(to + LANES, load(to + LANES) + high[m]);
    }
}

ALWAYS_INLINE void weights_panel(int vectors, const struct pixels *p, const float *from,
                                 size_t length, int column, float *d_weights)
{
    size_t k = 0;
    for (; k + TILE_TAPS <= length; k += TILE_TAPS)
        weights_tile(TILE_TAPS, vectors, p, from + k, column, d_weights + k * p->channels);
    for (; k + 4 <= length; k += 4)
        weights_tile(4, vectors, p, from + k, column, d_weights + k * p->channels);
    for (; k < length; k++)
        weights_tile(1, vectors, p, from + k, column, d_weights + k * p->channels);
}

static void direct_backward_weights(const struct conv_shape *s, const float *in, const float *d_out,
                                    float *d_weights, float *scratch)
{
    int h = s->h + 2 * s->pad, w = s->w + 2 * s->pad;
    const float *source = in;
    if (s->pad) {
        copy_bordered(s->n, s->h, s->w, s->in, in, s->pad, s->pad, h, w, scratch);
        source = scratch;
    }
    size_t pixel = (size_t)s->in, line = (size_t)w * pixel, length = (size_t)s->kernel * pixel;
    struct pixels pixels = {
        .n = s->n,
        .h = conv_out_h(s),
        .w = conv_out_w(s),
        .from_n = (size_t)h * line,
        .from_y = (size_t)s->stride * line,
        .from_x = (size_t)s->stride * pixel,
        .d_out = d_out,
        .channels = (size_t)s->out,
    };
    for (int column = 0; column < s->out; column += PANEL)
        for (int ky = 0; ky < s->kernel; ky++) {
            const float *from = source + (size_t)ky * line;
            float *to = d_weights + (size_t)ky * length * (size_t)s->out;
            if (s->out - column >= PANEL)
                weights_panel(2, &pixels, from, length, column, to);
            else
                weights_panel(1, &pixels, from, length, column, to);
        }
}

const struct conv_kernels SIMD(conv_direct) = {
    .name = SIMD_TEXT(KERNELS_NAME),
    .fits = direct_fits,
    .packed_count = direct_packed_count,
    .scratch_count = direct_scratch_count,
    .pack = direct_pack,
    .forward = direct_forward,
    .backward_data = direct_backward_data,
    .backward_weights = direct_backward_weights,
};

/* Convolution in float32 without im2col. In NHWC order, a row of the window of one output pixel is
 * one contiguous run of kernel × in floats. If there is padding, the input is first copied with a
 * border of zeros. The inner loop multiplies values of the input with a panel of weights, while the
 * sums of a tile of pixels × channels stay in registers. The gradient of the input is the same
 * product with transposed weights. It is computed separately for each phase of the stride
 * (conv_walk.h), because all pixels of a phase use the same taps. The gradient of the weights keeps
 * the sums of a tile of weights (rows × output channels) in registers over all pixels of several
 * pictures. The two inner loops are in conv_tile.h, and for NEON in conv_tile_neon.h.
 *
 * Built once per instruction set, and called through the table of channels.c. The number of output
 * channels must be a multiple of the vector length. If the number of input channels is not,
 * OpenBLAS computes the gradient of the input. */
#ifdef KERNELS_NEON
#include "train/kernels/conv_tile_neon.h"
#else
#include "train/kernels/conv_tile.h"
#endif

#include <string.h>

/* Weights are packed in panels of two vectors of columns. The last panel may have only one
 * vector. */
enum { PANEL = 2 * LANES };

/* Multiplies all pixels of the walk with one panel. */
ALWAYS_INLINE void conv_panel_product(int vectors, const struct conv_walk *walk,
                                      const float *source, const float *panel, float *target,
                                      bool accumulate)
{
    const float *from[TILE_ROWS];
    float *to[TILE_ROWS];
    int rows = 0;
    for (int n = 0; n < walk->n; n++)
        for (int y = 0; y < walk->h; y++) {
            const float *from_line = source + conv_walk_from(walk, n, y);
            float *to_line = target + conv_walk_to(walk, n, y);
            for (int x = 0; x < walk->w; x++) {
                from[rows] = from_line + (size_t)x * walk->from_x;
                to[rows] = to_line + (size_t)x * walk->to_x;
                if (++rows == TILE_ROWS) {
                    conv_tile_product(vectors, from, to, rows, walk, panel, accumulate);
                    rows = 0;
                }
            }
        }
    if (rows) {
        for (int m = rows; m < TILE_ROWS; m++) /* these rows are computed but not stored */
            from[m] = from[rows - 1], to[m] = to[rows - 1];
        conv_tile_product(vectors, from, to, rows, walk, panel, accumulate);
    }
}

/* Sets target[pixel][columns] to the product of the runs that the pixel reads from the source with
 * the packed panels, or adds the product if `accumulate` is set. */
static void conv_product(const struct conv_walk *walk, const float *source, const float *packed,
                         int columns, float *target, bool accumulate)
{
    size_t depth = conv_walk_depth(walk);
    if (depth == 0) /* these pixels are in no window */
        return;
    for (int column = 0; column < columns; column += PANEL) {
        const float *panel = packed + (size_t)column * depth;
        if (columns - column >= PANEL)
            conv_panel_product(2, walk, source, panel, target + column, accumulate);
        else
            conv_panel_product(1, walk, source, panel, target + column, accumulate);
    }
}

/* Copies n pictures of h × w pixels. The copies have to_h × to_w pixels, with zeros around the
 * picture, whose upper left pixel is at (left, top). */
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

static bool direct_fits(const struct conv_shape *s)
{
    return s->out % LANES == 0;
}

/* Returns whether vector code can compute the gradient of the input. */
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
    size_t forward = conv_bordered_count(s);
    size_t back = back_fits(s) ? conv_back_count(s) : conv_kernels_gemm.scratch_count(s);
    return forward > back ? forward : back;
}

/* Packs one row of `columns` weights as row `position` of the panels packed[panel][depth][PANEL].
 * Writes only the panels part, part + parts, part + 2 × parts, …. */
static void pack_row(const float *row, int columns, size_t depth, size_t position, int part,
                     int parts, float *packed)
{
    for (int column = part * PANEL; column < columns; column += parts * PANEL) {
        int width = columns - column < PANEL ? columns - column : PANEL;
        float *to = packed + (size_t)column * depth + position * (size_t)width;
        for (int i = 0; i < width; i++)
            to[i] = row[column + i];
    }
}

/* Like pack_row(), but packs the transposed weights of one tap, tap[columns][rows], as `rows` rows
 * from `position` on. Transposes a vector of rows at a time, so that each cache line of the weights
 * is read once. */
static void pack_transposed(const float *tap, int rows, int columns, size_t depth, size_t position,
                            int part, int parts, float *packed)
{
    for (int column = part * PANEL; column < columns; column += parts * PANEL) {
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

static void direct_pack(const struct conv_shape *s, const float *weights, int part, int parts,
                        float *packed)
{
    size_t depth = (size_t)s->kernel * (size_t)s->kernel * (size_t)s->in;
    for (size_t k = 0; k < depth; k++)
        pack_row(weights + k * (size_t)s->out, s->out, depth, k, part, parts, packed);
    packed += conv_weights_count(s);
    if (!back_fits(s)) {
        if (part == 0)
            memcpy(packed, weights, conv_weights_count(s) * sizeof(*weights));
        return;
    }
    for (int py = 0; py < s->stride; py++)
        for (int px = 0; px < s->stride; px++) {
            struct conv_phase y = conv_phase_of(s, s->h, py), x = conv_phase_of(s, s->w, px);
            depth = (size_t)y.taps * (size_t)x.taps * (size_t)s->out;
            size_t position = 0;
            for (int ty = y.taps - 1; ty >= 0; ty--)
                for (int tx = x.taps - 1; tx >= 0; tx--) {
                    size_t ky = (size_t)y.kernel_first + (size_t)ty * (size_t)s->stride,
                           kx = (size_t)x.kernel_first + (size_t)tx * (size_t)s->stride;
                    const float *tap =
                        weights + (ky * (size_t)s->kernel + kx) * (size_t)s->in * (size_t)s->out;
                    pack_transposed(tap, s->out, s->in, depth, position, part, parts, packed);
                    position += (size_t)s->out;
                }
            packed += depth * (size_t)s->in;
        }
}

/* Returns the input with its border, or the input itself if there is no border. */
static const float *border_input(const struct conv_shape *s, const float *in, float *scratch)
{
    if (s->pad == 0)
        return in;
    copy_bordered(s->n, s->h, s->w, s->in, in, s->pad, s->pad, s->h + 2 * s->pad, s->w + 2 * s->pad,
                  scratch);
    return scratch;
}

static void direct_forward(const struct conv_shape *s, const float *in, const float *packed,
                           float *out, float *scratch)
{
    struct conv_walk walk = conv_walk_forward(s);
    conv_product(&walk, border_input(s, in, scratch), packed, s->out, out, false);
}

static void direct_backward_data(const struct conv_shape *s, const float *d_out,
                                 const float *packed, float *d_in, bool accumulate, float *scratch)
{
    packed += conv_weights_count(s);
    if (!back_fits(s)) {
        conv_kernels_gemm.backward_data(s, d_out, packed, d_in, accumulate, scratch);
        return;
    }
    int oh = conv_out_h(s), ow = conv_out_w(s), border = conv_back_border(s);
    copy_bordered(s->n, oh, ow, s->out, d_out, border, border, conv_back_size(s, oh, s->h),
                  conv_back_size(s, ow, s->w), scratch);
    if (s->kernel < s->stride && !accumulate) /* some pixels are in no window */
        memset(d_in, 0, conv_in_count(s) * sizeof(*d_in));
    for (int phase = 0; phase < s->stride * s->stride; phase++) {
        struct conv_walk walk = conv_walk_back(s, phase);
        conv_product(&walk, scratch, packed, s->in, d_in, accumulate);
        packed += conv_walk_depth(&walk) * (size_t)s->in;
    }
}

/* Adds the gradient of `taps` rows of weights for all output channels, so that d_weights is read
 * and written sequentially. */
ALWAYS_INLINE void conv_weights_rows(int taps, const struct conv_walk *walk, const float *from,
                                     const float *d_out, float *d_weights)
{
    size_t columns = walk->to_x, column = 0;
    for (; column + PANEL <= columns; column += PANEL)
        conv_tile_weights(taps, 2, walk, from, d_out + column, d_weights + column);
    if (column < columns)
        conv_tile_weights(taps, 1, walk, from, d_out + column, d_weights + column);
}

/* Returns the number of pictures to process at a time. The pictures should fit in the second-level
 * cache together with their gradients. They should also be so many that loading and storing the
 * sums of a tile takes little of the time. */
static int weights_samples(const struct conv_shape *s)
{
    enum { CACHE_FLOATS = 32 * 1024, PIXELS_MIN = 128 };
    size_t pixels = (size_t)conv_out_h(s) * (size_t)conv_out_w(s);
    size_t floats = (conv_bordered_count(s) + conv_out_count(s)) / (size_t)s->n;
    size_t fit = CACHE_FLOATS / floats, least = (PIXELS_MIN + pixels - 1) / pixels;
    return (int)(fit > least ? fit : least);
}

static void direct_backward_weights(const struct conv_shape *s, const float *in, const float *d_out,
                                    float *d_weights, float *scratch)
{
    struct conv_walk walk = conv_walk_forward(s);
    const float *source = border_input(s, in, scratch);
    size_t row = walk.to_x;
    int at_once = weights_samples(s);
    for (int n = 0; n < s->n; n += at_once) {
        const float *gradient = d_out + (size_t)n * walk.to_n;
        walk.n = s->n - n < at_once ? s->n - n : at_once;
        for (int ky = 0; ky < s->kernel; ky++) {
            const float *from = source + (size_t)n * walk.from_n + (size_t)ky * walk.run_stride;
            float *to = d_weights + (size_t)ky * walk.length * row;
            size_t k = 0;
            for (; k + TILE_TAPS <= walk.length; k += TILE_TAPS)
                conv_weights_rows(TILE_TAPS, &walk, from + k, gradient, to + k * row);
            for (; k + 4 <= walk.length; k += 4)
                conv_weights_rows(4, &walk, from + k, gradient, to + k * row);
            for (; k < walk.length; k++)
                conv_weights_rows(1, &walk, from + k, gradient, to + k * row);
        }
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

/* Convolution in bf16: factors are rounded to 16 bits while they are packed, and products are
 * summed in float32. The order of the pixels is the same as in conv_direct.c (conv_walk.h). The
 * runs that 32 pixels read are first staged: copied next to each other, as the instructions need
 * them (bf16_block.h). Built once per instruction set: AMX, AVX512-BF16 and BFMMLA. choose.c
 * selects one at run time. The numbers of input and output channels must be multiples of 16.
 * conv_rounded.c computes other shapes. */
#include "train/kernels/conv_bf16.h"

/* A staged row is one chunk longer than necessary, because rows at distances of a power of two
 * would compete for the same cache sets. */
static size_t stage_row(size_t depth)
{
    return padded(depth) + CHUNK;
}

static bool bf16_fits(const struct conv_shape *s)
{
    return s->in % TILE == 0 && s->out % TILE == 0;
}

static size_t forward_values(const struct conv_shape *s)
{
    return padded((size_t)s->kernel * (size_t)s->kernel * (size_t)s->in) * (size_t)s->out;
}

static size_t bf16_packed_count(const struct conv_shape *s)
{
    size_t values = forward_values(s);
    for (int phase = 0; phase < s->stride * s->stride; phase++) {
        struct conv_walk walk = conv_walk_back(s, phase);
        values += padded(conv_walk_depth(&walk)) * (size_t)s->in;
    }
    return values / 2;
}

/* Packs floats, matrix[depth][columns], into tiles of columns: every `stride`-th tile, beginning
 * with tile `first`. */
static void pack_straight(const float *matrix, size_t depth, size_t columns, size_t first,
                          size_t stride, uint16_t *packed)
{
    for (size_t column = first * TILE; column < columns; column += stride * TILE) {
        uint16_t *to = packed + column * padded(depth);
        for (size_t k = 0; k < padded(depth); k += GROUP, to += LINE)
            if (k < depth) /* depth is a multiple of TILE */
                bf16_pack_line(matrix + k * columns + column, columns, to);
            else
                memset(to, 0, LINE * sizeof(*to));
    }
}

/* Packs the transposed weights of one tap, tap[columns][rows], into the same tiles as
 * pack_straight(). They become the rows from `position` to position + rows - 1 of the matrix. */
static void pack_transposed(const float *tap, size_t rows, size_t columns, size_t depth,
                            size_t position, size_t first, size_t stride, uint16_t *packed)
{
    for (size_t column = first * TILE; column < columns; column += stride * TILE) {
        uint16_t *to = packed + column * padded(depth) + position * TILE;
        if (position == 0) /* the first tap clears the whole tile, including its padding */
            memset(to, 0, padded(depth) * TILE * sizeof(*to));
        for (size_t row = 0; row < rows; row += CHUNK) {
            size_t now = rows - row < CHUNK ? TILE : CHUNK;
            bf16_pack_columns(tap + column * rows + row, rows, now, to + row * TILE);
        }
    }
}

static void bf16_pack(const struct conv_shape *s, const float *weights, int part, int parts,
                      float *to)
{
    size_t first = (size_t)part, stride = (size_t)parts;
    uint16_t *packed = (void *)to;
    size_t in = (size_t)s->in, out = (size_t)s->out, kernel = (size_t)s->kernel;
    pack_straight(weights, kernel * kernel * in, out, first, stride, packed);
    packed += forward_values(s);
    for (int phase = 0; phase < s->stride * s->stride; phase++) {
        struct conv_phase y = conv_phase_of(s, s->h, phase / s->stride),
                          x = conv_phase_of(s, s->w, phase % s->stride);
        size_t depth = (size_t)y.taps * (size_t)x.taps * out, position = 0;
        for (int ty = y.taps - 1; ty >= 0; ty--)
            for (int tx = x.taps - 1; tx >= 0; tx--, position += out) {
                int ky = y.kernel_first + ty * s->stride, kx = x.kernel_first + tx * s->stride;
                pack_transposed(weights + ((size_t)ky * kernel + (size_t)kx) * in * out, out, in,
                                depth, position, first, stride, packed);
            }
        packed += padded(depth) * in;
    }
}

/* The product of the staged rows with the packed weights. */
struct conv_product {
    const struct conv_walk *walk;
    const uint16_t *packed;
    size_t columns; /* number of columns of the weights */
    float *target;
    bool accumulate;
    bool flat; /* the target pixels are equally spaced */
    uint16_t *stage;
    float *sums; /* BLOCK × BLOCK */
};

/* Returns the number of floats of scratch memory that conv_product() needs. */
static size_t product_floats(size_t depth)
{
    return floats_of(BLOCK * stage_row(depth)) + BLOCK * BLOCK;
}

/* Vectors of 32 and 16 values, for copying memory. */
typedef uint16_t wide_values __attribute__((vector_size(64), aligned(2), may_alias));
typedef uint16_t half_values __attribute__((vector_size(32), aligned(2), may_alias));

/* Copies the runs that one target pixel reads. */
static void stage_runs(const struct conv_walk *walk, const uint16_t *from, uint16_t *to)
{
    for (int run = 0; run < walk->runs; run++, from += walk->run_stride, to += walk->length) {
        size_t i = 0;
        for (; i + CHUNK <= walk->length; i += CHUNK)
            *(wide_values *)(to + i) = *(const wide_values *)(from + i);
        if (i < walk->length)
            *(half_values *)(to + i) = *(const half_values *)(from + i);
    }
}

/* Multiplies the staged rows with all columns. Stores the result of row number m at target + to[m],
 * or adds it if `accumulate` is set. */
static void product_rows(const struct conv_product *p, const size_t *to, size_t rows)
{
    size_t depth = conv_walk_depth(p->walk), row = stage_row(depth);
    struct rows a = {.at = p->stage, .row = row, .chunk = CHUNK, .tile = TILE * row};
    bool direct = p->flat && !p->accumulate && rows % TILE == 0;
    for (size_t column = 0; column < p->columns; column += BLOCK) {
        size_t left = p->columns - column;
        struct columns b = {.at = p->packed + column * padded(depth), .tile = padded(depth) * TILE};
        if (direct) {
            block_any(rows, left, a, b, chunks_of(depth), p->target + to[0] + column, p->walk->to_x,
                      false);
            continue;
        }
        block_any(rows, left, a, b, chunks_of(depth), p->sums, BLOCK, false);
        for (size_t m = 0; m < rows; m++)
            for (size_t i = 0; i < left && i < BLOCK; i += LANES) {
                float *target = p->target + to[m] + column + i;
                vec sum = simd_load(p->sums + m * BLOCK + i);
                simd_store(target, p->accumulate ? simd_load(target) + sum : sum);
            }
    }
}

/* Sets each target pixel of the walk to the product of its runs with the packed weights, or adds
 * the product if `accumulate` is set. */
static void conv_product(const struct conv_walk *walk, const uint16_t *source,
                         const uint16_t *packed, size_t columns, float *target, bool accumulate,
                         float *scratch)
{
    size_t depth = conv_walk_depth(walk), row = stage_row(depth), rows = 0, to[BLOCK];
    if (depth == 0)
        return;
    struct conv_product p = {
        .walk = walk,
        .packed = packed,
        .columns = columns,
        .target = target,
        .accumulate = accumulate,
        .flat = walk->to_y == (size_t)walk->w * walk->to_x &&
                walk->to_n == (size_t)walk->h * walk->to_y,
        .stage = (void *)scratch,
        .sums = scratch + floats_of(BLOCK * row),
    };
    memset(p.stage, 0,
           BLOCK * row * sizeof(*p.stage)); /* the padding from `depth` to `row` stays 0 */
    for (int n = 0; n < walk->n; n++)
        for (int y = 0; y < walk->h; y++)
            for (int x = 0; x < walk->w; x++) {
                stage_runs(walk, source + conv_walk_from(walk, n, y) + (size_t)x * walk->from_x,
                           p.stage + rows * row);
                to[rows] = conv_walk_to(walk, n, y) + (size_t)x * walk->to_x;
                if (++rows == BLOCK) {
                    product_rows(&p, to, rows);
                    rows = 0;
                }
            }
    if (rows)
        product_rows(&p, to, rows);
}

static void bf16_forward(const struct conv_shape *s, const float *in, const float *packed,
                         float *out, float *scratch)
{
    struct conv_walk walk = conv_walk_forward(s);
    uint16_t *source = (void *)scratch;
    round_input(s, in, source);
    block_begin();
    conv_product(&walk, source, (const void *)packed, (size_t)s->out, out, false,
                 scratch + floats_of(conv_bordered_count(s)));
    block_end();
}

static void bf16_backward_data(const struct conv_shape *s, const float *d_out, const float *packed,
                               float *d_in, bool accumulate, float *scratch)
{
    const uint16_t *transposed = (const uint16_t *)(const void *)packed + forward_values(s);
    int oh = conv_out_h(s), ow = conv_out_w(s), border = conv_back_border(s);
    uint16_t *source = (void *)scratch;
    round_bordered(s->n, oh, ow, (size_t)s->out, d_out, border, border, conv_back_size(s, oh, s->h),
                   conv_back_size(s, ow, s->w), source);
    if (s->kernel < s->stride && !accumulate) /* some pixels are in no window */
        memset(d_in, 0, conv_in_count(s) * sizeof(*d_in));
    block_begin();
    for (int phase = 0; phase < s->stride * s->stride; phase++) {
        struct conv_walk walk = conv_walk_back(s, phase);
        conv_product(&walk, source, transposed, (size_t)s->in, d_in, accumulate,
                     scratch + floats_of(conv_back_count(s)));
        transposed += padded(conv_walk_depth(&walk)) * (size_t)s->in;
    }
    block_end();
}

static size_t bf16_scratch_count(const struct conv_shape *s)
{
    size_t most = SIMD(bf16_weights_scratch)(s);
    size_t forward = floats_of(conv_bordered_count(s)) +
                     product_floats((size_t)s->kernel * (size_t)s->kernel * (size_t)s->in);
    size_t back = floats_of(conv_back_count(s)) +
                  product_floats((size_t)s->kernel * (size_t)s->kernel * (size_t)s->out);
    most = forward > most ? forward : most;
    return back > most ? back : most;
}

const struct conv_kernels SIMD(conv) = {
    .name = SIMD_TEXT(KERNELS_NAME),
    .fits = bf16_fits,
    .packed_count = bf16_packed_count,
    .scratch_count = bf16_scratch_count,
    .pack = bf16_pack,
    .forward = bf16_forward,
    .backward_data = bf16_backward_data,
    .backward_weights = SIMD(bf16_backward_weights),
};

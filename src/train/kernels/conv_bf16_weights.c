/* Computes the gradient of the weights in bf16 convolution. This gradient is a sum over pixels, so
 * the pixels are the depth of the matrix product. The gradient of the output is therefore
 * transposed. The input is staged in groups of pixels, as many at a time as fit in the second-level
 * cache. The product is the transposed gradient of the weights, which is transposed again at the
 * end. Built and selected like conv_bf16.c. */
#include "train/kernels/conv_bf16.h"

enum { STAGE_VALUES = 128 * 1024 /* 256 KiB of staged input */ };

/* The layout of the scratch memory. `transposed`, `staged`, `sums` and `end` are offsets in
 * floats. */
struct weights_plan {
    size_t depth, pixels; /* values per window, and number of output pixels */
    size_t at_once;       /* pixels staged at a time, a multiple of CHUNK */
    size_t transposed, staged, sums, end;
};

static struct weights_plan weights_plan(const struct conv_shape *s)
{
    size_t depth = (size_t)s->kernel * (size_t)s->kernel * (size_t)s->in;
    size_t pixels = (size_t)s->n * (size_t)conv_out_h(s) * (size_t)conv_out_w(s);
    size_t at_once = STAGE_VALUES / depth / CHUNK * CHUNK;
    at_once = at_once < CHUNK ? CHUNK : at_once;
    at_once = at_once < padded(pixels) ? at_once : padded(pixels);
    struct weights_plan plan = {.depth = depth, .pixels = pixels, .at_once = at_once};
    plan.transposed = floats_of(conv_bordered_count(s));
    plan.staged = plan.transposed + floats_of(padded(pixels) * (size_t)s->out);
    plan.sums = plan.staged + floats_of(at_once * depth);
    plan.end = plan.sums + depth * (size_t)s->out;
    return plan;
}

/* Transposes d_out[pixels][out] into tiles of 16 channels × 32 pixels, with zeros after the last
 * pixel. */
static void transpose_gradient(const float *d_out, size_t pixels, size_t out, uint16_t *transposed)
{
    for (size_t channel = 0; channel < out; channel += TILE)
        for (size_t pixel = 0; pixel < pixels; pixel += CHUNK, transposed += TILE_VALUES)
            bf16_pack_transposed(d_out + pixel * out + channel, out, pixels - pixel, transposed);
}

/* Returns the offset of the runs of a target pixel in the source. */
static size_t pixel_from(const struct conv_walk *walk, size_t pixel)
{
    size_t w = (size_t)walk->w, h = (size_t)walk->h;
    return pixel / w / h * walk->from_n + pixel / w % h * walk->from_y + pixel % w * walk->from_x;
}

/* Stages `count` pixels, a multiple of CHUNK, starting with pixel `first`. Instead of pixels after
 * the last one, stages the last pixel again. This has no effect, because the gradient there is
 * 0. */
static void stage_pixels(const struct conv_walk *walk, const uint16_t *source, size_t first,
                         size_t count, size_t pixels, size_t tile, uint16_t *staged)
{
    for (size_t i = 0; i < count; i += GROUP, staged += LINE) {
        const uint16_t *from[GROUP];
        for (size_t g = 0; g < GROUP; g++) {
            size_t pixel = first + i + g < pixels ? first + i + g : pixels - 1;
            from[g] = source + pixel_from(walk, pixel);
        }
        stage_group(walk, from, tile, staged);
    }
}

/* d_weights[depth][out] += sums[out][depth] */
static void add_transposed(const float *sums, size_t depth, size_t out, float *d_weights)
{
    for (size_t k = 0; k < depth; k += TILE)
        for (size_t channel = 0; channel < out; channel += TILE)
            bf16_pack_add_transposed(sums + channel * depth + k, depth,
                                     d_weights + k * out + channel, out);
}

size_t SIMD(bf16_weights_scratch)(const struct conv_shape *s)
{
    return weights_plan(s).end;
}

void SIMD(bf16_backward_weights)(const struct conv_shape *s, const float *in, const float *d_out,
                                 float *d_weights, float *scratch)
{
    struct conv_walk walk = conv_walk_forward(s);
    struct weights_plan plan = weights_plan(s);
    uint16_t *source = (void *)scratch, *transposed = (void *)(scratch + plan.transposed),
             *staged = (void *)(scratch + plan.staged);
    float *sums = scratch + plan.sums;
    size_t out = (size_t)s->out, all = padded(plan.pixels);
    round_input(s, in, source);
    transpose_gradient(d_out, plan.pixels, out, transposed);
    block_begin();
    for (size_t pixel = 0; pixel < all; pixel += plan.at_once) {
        size_t now = all - pixel < plan.at_once ? all - pixel : plan.at_once, tile = now * TILE;
        stage_pixels(&walk, source, pixel, now, plan.pixels, tile, staged);
        for (size_t k = 0; k < plan.depth; k += BLOCK)
            for (size_t channel = 0; channel < out; channel += BLOCK) {
                struct rows a = {.at = transposed + channel * all + pixel * TILE,
                                 .row = CHUNK,
                                 .chunk = TILE_VALUES,
                                 .tile = all * TILE};
                struct columns b = {.at = staged + k / TILE * tile, .tile = tile};
                block_any(out - channel, plan.depth - k, a, b, now / CHUNK,
                          sums + channel * plan.depth + k, plan.depth, pixel > 0);
            }
    }
    block_end();
    add_transposed(sums, plan.depth, out, d_weights);
}

/* Sizes and rounding, for conv_bf16.c and conv_bf16_weights.c. */
#ifndef TRAINYARD_TRAIN_KERNELS_CONV_BF16_H
#define TRAINYARD_TRAIN_KERNELS_CONV_BF16_H

#ifdef __aarch64__
#include "train/kernels/bf16_pack_arm.h"
#else
#include "train/kernels/bf16_pack_x86.h"
#endif
#include "train/kernels/conv_walk.h"

/* Defined in conv_bf16_weights.c. bf16_weights_scratch() returns the number of floats of scratch
 * memory that bf16_backward_weights() needs. */
size_t SIMD(bf16_weights_scratch)(const struct conv_shape *s);
void SIMD(bf16_backward_weights)(const struct conv_shape *s, const float *in, const float *d_out,
                                 float *d_weights, float *scratch);

/* Returns the number of chunks that contain `depth` values. */
static inline size_t chunks_of(size_t depth)
{
    return (depth + CHUNK - 1) / CHUNK;
}

/* Returns `depth` rounded up to whole chunks. */
static inline size_t padded(size_t depth)
{
    return chunks_of(depth) * CHUNK;
}

/* Returns the number of floats whose memory holds `values` bf16 values, rounded up to whole cache
 * lines. */
static inline size_t floats_of(size_t values)
{
    return padded(values) / 2;
}

/* Rounds n pictures of h × w pixels to bf16. The copies have to_h × to_w pixels, with zeros around
 * the picture, whose upper left pixel is at (left, top). */
static inline void round_bordered(int n, int h, int w, size_t c, const float *from, int top,
                                  int left, int to_h, int to_w, uint16_t *to)
{
    size_t line = (size_t)w * c, to_line = (size_t)to_w * c, before = (size_t)left * c;
    for (int i = 0; i < n; i++)
        for (int y = 0; y < to_h; y++, to += to_line) {
            if (y < top || y >= top + h) {
                memset(to, 0, to_line * sizeof(*to));
                continue;
            }
            memset(to, 0, before * sizeof(*to));
            round_values(from, line, to + before);
            memset(to + before + line, 0, (to_line - before - line) * sizeof(*to));
            from += line;
        }
}

static inline void round_input(const struct conv_shape *s, const float *in, uint16_t *to)
{
    round_bordered(s->n, s->h, s->w, (size_t)s->in, in, s->pad, s->pad, s->h + 2 * s->pad,
                   s->w + 2 * s->pad, to);
}

#endif

/* What the two files of bf16 convolution share: sizes, rounding and turning. */
#ifndef TRAINYARD_TRAIN_CONV_BF16_H
#define TRAINYARD_TRAIN_CONV_BF16_H

#include "train/kernels/bf16_block.h"
#include "train/kernels/conv_walk.h"

/* conv_bf16_weights.c; the scratch in floats. */
size_t SIMD(bf16_weights_scratch)(const struct conv_shape *s);
void SIMD(bf16_backward_weights)(const struct conv_shape *s, const float *in, const float *d_out,
                                 float *d_weights, float *scratch);

static inline size_t chunks_of(size_t depth)
{
    return (depth + CHUNK - 1) / CHUNK;
}

static inline size_t padded(size_t depth)
{
    return chunks_of(depth) * CHUNK;
}

/* Floats that hold so many values, in whole cache lines. */
static inline size_t floats_of(size_t values)
{
    return padded(values) / 2;
}

static inline __m512i round_two(__m512 low, __m512 high)
{
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* `count` is a multiple of 16. */
static inline void round_values(const float *from, size_t count, uint16_t *to)
{
    size_t i = 0;
    for (; i + CHUNK <= count; i += CHUNK)
        _mm512_storeu_si512(to + i,
                            round_two(_mm512_loadu_ps(from + i), _mm512_loadu_ps(from + i + TILE)));
    if (i < count)
        _mm256_storeu_si256((__m256i *)(to + i),
                            (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i)));
}

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

/* 16 × 16 elements of 32 bits. */
ALWAYS_INLINE void transpose(__m512i m[TILE])
{
    __m512i t[TILE];
    UNROLL
    for (int i = 0; i < TILE; i += 2) {
        t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
    }
    UNROLL
    for (int i = 0; i < TILE; i += 4) {
        m[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        m[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        m[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        m[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0xdd);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        m[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        m[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        m[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        m[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

/* Positions 0, 16, 1, 17, …: two rows of one vector become pairs. */
static inline __m512i pair_order(void)
{
    uint16_t order[CHUNK];
    for (int i = 0; i < TILE; i++) {
        order[2 * i] = (uint16_t)i;
        order[2 * i + 1] = (uint16_t)(TILE + i);
    }
    return _mm512_loadu_si512(order);
}

#endif

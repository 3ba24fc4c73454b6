/* Rounds rows of floats to bf16 and transposes them into the tiles of bf16_block.h, with
 * AVX512-BF16. Included by conv_bf16.h. bf16_pack_arm.h has the same functions. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_PACK_X86_H
#define TRAINYARD_TRAIN_KERNELS_BF16_PACK_X86_H

#include "train/kernels/bf16_block.h"
#include "train/kernels/conv_walk.h"

#include <immintrin.h>

/* Rounds two vectors to bf16 and joins them. */
static inline __m512i round_two(__m512 low, __m512 high)
{
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* Rounds `count` values to bf16. `count` is a multiple of 16. */
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

/* Transposes 16 × 16 elements of 32 bits. */
ALWAYS_INLINE void bf16_pack_transpose_square(__m512i m[TILE])
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

/* Returns the permutation 0, 16, 1, 17, …, which interleaves the two rows of a vector as pairs. */
static inline __m512i pair_order(void)
{
    uint16_t order[CHUNK];
    for (int i = 0; i < TILE; i++) {
        order[2 * i] = (uint16_t)i;
        order[2 * i + 1] = (uint16_t)(TILE + i);
    }
    return _mm512_loadu_si512(order);
}

/* Packs two rows of 16 floats, `row` apart, into one line of b. */
ALWAYS_INLINE void bf16_pack_line(const float *from, size_t row, uint16_t *to)
{
    __m512i both = round_two(_mm512_loadu_ps(from), _mm512_loadu_ps(from + row));
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(pair_order(), both));
}

/* Packs 16 rows of `depth` floats (16 or 32) into depth / 2 lines of b. Each row becomes a column
 * of b. */
ALWAYS_INLINE void bf16_pack_columns(const float *from, size_t row, size_t depth, uint16_t *to)
{
    __m512i lines[TILE];
    for (size_t i = 0; i < TILE; i++, from += row)
        lines[i] = round_two(_mm512_loadu_ps(from),
                             depth == CHUNK ? _mm512_loadu_ps(from + TILE) : _mm512_setzero_ps());
    bf16_pack_transpose_square(lines);
    for (size_t i = 0; i < depth / GROUP; i++)
        _mm512_storeu_si512(to + i * LINE, lines[i]);
}

/* Transposes up to 32 rows of 16 floats, `row` apart, into a tile of a: 16 rows of 32 values,
 * padded with zeros. */
ALWAYS_INLINE void bf16_pack_transposed(const float *from, size_t row, size_t rows, uint16_t *to)
{
    const __m512i order = pair_order();
    __m512i lines[TILE];
    for (size_t i = 0; i < TILE; i++, from += 2 * row) {
        __m512 first = 2 * i < rows ? _mm512_loadu_ps(from) : _mm512_setzero_ps(),
               second = 2 * i + 1 < rows ? _mm512_loadu_ps(from + row) : _mm512_setzero_ps();
        lines[i] = _mm512_permutexvar_epi16(order, round_two(first, second));
    }
    bf16_pack_transpose_square(lines);
    for (size_t i = 0; i < TILE; i++)
        _mm512_storeu_si512(to + i * CHUNK, lines[i]);
}

/* Interleaves the runs (conv_walk.h) of GROUP pixels: every 16 values of the runs become one line
 * of the next tile of b. from[g] is the first run of pixel g. `to` is the line in the first tile,
 * and the tiles are `tile` values apart. */
static inline void stage_group(const struct conv_walk *walk, const uint16_t *const from[GROUP],
                               size_t tile, uint16_t *to)
{
    const uint16_t *first = from[0], *second = from[1];
    uint16_t order[2][CHUNK];
    for (int i = 0; i < CHUNK; i++) {
        order[0][i] = (uint16_t)(i % 2 * CHUNK + i / 2);
        order[1][i] = (uint16_t)(order[0][i] + TILE);
    }
    const __m512i low = _mm512_loadu_si512(order[0]), high = _mm512_loadu_si512(order[1]);
    for (int run = 0; run < walk->runs;
         run++, first += walk->run_stride, second += walk->run_stride) {
        size_t i = 0;
        for (; i + CHUNK <= walk->length; i += CHUNK, to += 2 * tile) {
            __m512i a = _mm512_loadu_si512(first + i), b = _mm512_loadu_si512(second + i);
            _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a, low, b));
            _mm512_storeu_si512(to + tile, _mm512_permutex2var_epi16(a, high, b));
        }
        if (i < walk->length) {
            __m512i a = _mm512_maskz_loadu_epi16(0xffff, first + i),
                    b = _mm512_maskz_loadu_epi16(0xffff, second + i);
            _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a, low, b));
            to += tile;
        }
    }
}

/* Computes to[j][i] += sums[i][j] for 16 × 16 floats. The rows of `sums` are sums_row floats apart,
 * and the rows of `to` are `row` floats apart. */
ALWAYS_INLINE void bf16_pack_add_transposed(const float *sums, size_t sums_row, float *to,
                                            size_t row)
{
    __m512i lines[TILE];
    for (size_t i = 0; i < TILE; i++)
        lines[i] = _mm512_loadu_si512(sums + i * sums_row);
    bf16_pack_transpose_square(lines);
    for (size_t i = 0; i < TILE; i++, to += row)
        _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), (__m512)lines[i]));
}

#endif

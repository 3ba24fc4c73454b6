/* Rounds rows of floats to bf16 and transposes them into the tiles of bf16_block.h, with the
 * instructions of FEAT_BF16. Included by conv_bf16.h. bf16_pack_x86.h has the same functions. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_PACK_ARM_H
#define TRAINYARD_TRAIN_KERNELS_BF16_PACK_ARM_H

#include "train/kernels/bf16_block.h"
#include "train/kernels/conv_walk.h"

#include <arm_neon.h>

/* Rounds four values to bf16. */
ALWAYS_INLINE uint16x4_t bf16_pack_round_four(const float *from)
{
    return vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(from)));
}

/* Rounds `count` values to bf16. `count` is a multiple of 16. */
static inline void round_values(const float *from, size_t count, uint16_t *to)
{
    for (size_t i = 0; i < count; i += 8)
        vst1q_u16(to + i,
                  vcombine_u16(bf16_pack_round_four(from + i), bf16_pack_round_four(from + i + 4)));
}

/* Packs four rows of 16 floats, `row` apart, into one line of b. */
ALWAYS_INLINE void bf16_pack_line(const float *from, size_t row, uint16_t *to)
{
    for (int i = 0; i < TILE; i += 4) {
        uint16x4x4_t rows = {{bf16_pack_round_four(from + i), bf16_pack_round_four(from + row + i),
                              bf16_pack_round_four(from + 2 * row + i),
                              bf16_pack_round_four(from + 3 * row + i)}};
        vst4_u16(to + i * GROUP, rows);
    }
}

/* Packs 16 rows of `depth` floats (16 or 32) into depth / 4 lines of b. Each row becomes a column
 * of b. */
ALWAYS_INLINE void bf16_pack_columns(const float *from, size_t row, size_t depth, uint16_t *to)
{
    for (size_t i = 0; i < TILE; i++, from += row, to += GROUP)
        for (size_t k = 0; k < depth; k += GROUP)
            vst1_u16(to + k * TILE, bf16_pack_round_four(from + k));
}

/* Transposes up to 32 rows of 16 floats, `row` apart, into a tile of a: 16 rows of 32 values,
 * padded with zeros. */
ALWAYS_INLINE void bf16_pack_transposed(const float *from, size_t row, size_t rows, uint16_t *to)
{
    uint16_t line[LINE]; /* four rows, transposed */
    for (size_t at = 0; at < CHUNK; at += GROUP, to += GROUP) {
        for (int i = 0; i < TILE; i += 4) {
            uint16x4x4_t four;
            for (size_t g = 0; g < GROUP; g++)
                four.val[g] =
                    at + g < rows ? bf16_pack_round_four(from + (at + g) * row + i) : vdup_n_u16(0);
            vst4_u16(line + i * GROUP, four);
        }
        for (int i = 0; i < TILE; i++)
            vst1_u16(to + i * CHUNK, vld1_u16(line + i * GROUP));
    }
}

/* Copies the runs that GROUP pixels read (conv_walk.h) as one line of every tile of b. The tiles
 * are `tile` values apart. */
static inline void stage_group(const struct conv_walk *walk, const uint16_t *const from[GROUP],
                               size_t tile, uint16_t *to)
{
    for (int run = 0; run < walk->runs; run++)
        for (size_t i = (size_t)run * walk->run_stride, end = i + walk->length; i < end;
             i += TILE, to += tile)
            for (size_t half = 0; half < TILE; half += 8) {
                uint16x8x4_t four;
                for (int g = 0; g < GROUP; g++)
                    four.val[g] = vld1q_u16(from[g] + i + half);
                vst4q_u16(to + half * GROUP, four);
            }
}

/* Computes to[j][i] += sums[i][j] for 16 × 16 floats. The rows of `sums` are sums_row floats apart,
 * and the rows of `to` are `row` floats apart. */
ALWAYS_INLINE void bf16_pack_add_transposed(const float *sums, size_t sums_row, float *to,
                                            size_t row)
{
    float transposed[4 * 4];
    for (size_t i = 0; i < TILE; i += 4)
        for (size_t k = 0; k < TILE; k += 4) {
            const float *from = sums + i * sums_row + k;
            float32x4x4_t four = {{vld1q_f32(from), vld1q_f32(from + sums_row),
                                   vld1q_f32(from + 2 * sums_row), vld1q_f32(from + 3 * sums_row)}};
            vst4q_f32(transposed, four);
            for (size_t j = 0; j < 4; j++) {
                float *at = to + (k + j) * row + i;
                vst1q_f32(at, vaddq_f32(vld1q_f32(at), vld1q_f32(transposed + 4 * j)));
            }
        }
}

#endif

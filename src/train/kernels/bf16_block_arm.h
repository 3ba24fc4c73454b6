/* The block product of bf16_block.h with BFMMLA. One instruction computes 2 × 2 sums of four
 * products each, from two rows of a and two columns of b with four neighbouring values of depth. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_ARM_H
#define TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_ARM_H

#include "train/kernels/bf16_block.h"

#include <arm_neon.h>

enum {
    STRIP = 8,         /* rows and columns of sums that are in registers at the same time */
    PAIRS = STRIP / 2, /* pairs of rows, or of columns, per strip */
};

/* BFMMLA needs no preparation. */
static void block_begin(void)
{
}

static void block_end(void)
{
}

ALWAYS_INLINE uint64x2_t bf16_block_eight(const uint16_t *from)
{
    return vreinterpretq_u64_u16(vld1q_u16(from));
}

/* Stores four neighbouring sums of one row. */
ALWAYS_INLINE void bf16_block_store(float *to, float32x4_t sums, bool add)
{
    vst1q_f32(to, add ? vaddq_f32(vld1q_f32(to), sums) : sums);
}

/* c[8][8] = a × b + (add ? c : 0). This function is not inlined, because a call costs little
 * compared to the loop. */
static __attribute__((noinline)) void bf16_block_strip(const uint16_t *a, size_t a_row,
                                                       size_t a_chunk, const uint16_t *b,
                                                       size_t chunks, float *c, size_t c_row,
                                                       bool add)
{
    float32x4_t sums[PAIRS][PAIRS];
    UNROLL
    for (int m = 0; m < PAIRS; m++)
        UNROLL
    for (int n = 0; n < PAIRS; n++)
        sums[m][n] = vdupq_n_f32(0);
    for (size_t i = 0; i < chunks; i++, a += a_chunk)
        for (int k = 0; k < CHUNK; k += 2 * GROUP, b += 2 * LINE) {
            bfloat16x8_t rows[2][PAIRS];
            UNROLL
            for (int m = 0; m < PAIRS; m++) {
                const uint16_t *pair = a + 2 * (size_t)m * a_row + k;
                uint64x2_t upper = bf16_block_eight(pair), lower = bf16_block_eight(pair + a_row);
                rows[0][m] = vreinterpretq_bf16_u64(vzip1q_u64(upper, lower));
                rows[1][m] = vreinterpretq_bf16_u64(vzip2q_u64(upper, lower));
            }
            UNROLL
            for (int half = 0; half < 2; half++)
                UNROLL
            for (int n = 0; n < PAIRS; n++) {
                const uint16_t *pair = b + half * LINE + n * 2 * GROUP;
                bfloat16x8_t columns = vreinterpretq_bf16_u16(vld1q_u16(pair));
                UNROLL
                for (int m = 0; m < PAIRS; m++)
                    sums[m][n] = vbfmmlaq_f32(sums[m][n], rows[half][m], columns);
            }
        }
    UNROLL
    for (int m = 0; m < PAIRS; m++, c += 2 * c_row)
        UNROLL
    for (int n = 0; n < PAIRS; n += 2) {
        float64x2_t left = vreinterpretq_f64_f32(sums[m][n]),
                    right = vreinterpretq_f64_f32(sums[m][n + 1]);
        float *upper = c + 2 * n, *lower = upper + c_row;
        bf16_block_store(upper, vreinterpretq_f32_f64(vzip1q_f64(left, right)), add);
        bf16_block_store(lower, vreinterpretq_f32_f64(vzip2q_f64(left, right)), add);
    }
}

ALWAYS_INLINE void bf16_block_product(int row_tiles, int column_tiles, struct rows a,
                                      struct columns b, size_t chunks, float *c, size_t c_row,
                                      bool add)
{
    for (int row = 0; row < row_tiles * TILE; row += STRIP)
        for (int column = 0; column < column_tiles * TILE; column += STRIP)
            bf16_block_strip(a.at + (size_t)(row / TILE) * a.tile + (size_t)(row % TILE) * a.row,
                             a.row, a.chunk,
                             b.at + (size_t)(column / TILE) * b.tile + (column % TILE) * GROUP,
                             chunks, c + (size_t)row * c_row + column, c_row, add);
}

#endif

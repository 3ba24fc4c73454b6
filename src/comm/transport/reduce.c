/* Implements sums of floats and conversion to bfloat16; see reduce.h. The loops are written so that
 * the compiler vectorises them for every instruction set that this file is built for. The sum of an
 * element does not depend on the vector width. */
#include "comm/transport/reduce.h"

#include "base/widest.h"

#include <string.h>

WIDEST void reduce_add_f32(float *restrict sum, const void *restrict other, size_t count)
{
    const char *restrict from = other;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof(value), sizeof(value));
        sum[i] += value;
    }
}

WIDEST static void reduce_add_two(float *restrict to, const float *restrict a,
                                  const float *restrict b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = a[i] + b[i];
}

/* Uses plain stores: non-temporal stores were measured three times slower (25 MiB on two cores
 * with a large last-level cache), and prefetching gained nothing. */
WIDEST static void reduce_add_two_in_place(float *restrict a, float *restrict b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] = a[i] + b[i];
}

/* Floats per block. The sum of a block must fit into the L1 cache until it is written. */
enum { BLOCK = 2048 };

static void reduce_sum_block(float block[BLOCK], float *const *rows, size_t row_count, size_t at,
                             size_t count)
{
    if (row_count == 1) {
        memcpy(block, rows[0] + at, count * sizeof(float));
        return;
    }
    reduce_add_two(block, rows[0] + at, rows[1] + at, count);
    for (size_t row = 2; row < row_count; row++)
        reduce_add_f32(block, rows[row] + at, count);
}

void reduce_rows_f32(float *to, float *const *rows, size_t row_count, size_t count)
{
    float block[BLOCK];
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t here = count - at < BLOCK ? count - at : BLOCK;
        reduce_sum_block(block, rows, row_count, at, here);
        memcpy(to + at, block, here * sizeof(float));
    }
}

void reduce_rows_in_place_f32(float *const *rows, size_t row_count, size_t count)
{
    if (row_count == 2) {
        reduce_add_two_in_place(rows[0], rows[1], count);
        return;
    }
    float block[BLOCK];
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t here = count - at < BLOCK ? count - at : BLOCK;
        reduce_sum_block(block, rows, row_count, at, here);
        for (size_t row = 0; row < row_count; row++)
            memcpy(rows[row] + at, block, here * sizeof(float));
    }
}

WIDEST void reduce_narrow_bf16(uint16_t *restrict bits, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &from[i], sizeof(word));
        uint32_t rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
        uint32_t quiet = word >> 16 | 0x40; /* not rounded, because rounding could turn a NaN into
                                             * an infinity */
        bits[i] = (uint16_t)((word & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
    }
}

WIDEST void reduce_widen_bf16(float *restrict to, const uint16_t *restrict bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = (uint32_t)bits[i] << 16;
        memcpy(&to[i], &word, sizeof(word));
    }
}

WIDEST void reduce_add_bf16(float *restrict sum, const uint16_t *restrict bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = (uint32_t)bits[i] << 16;
        float value;
        memcpy(&value, &word, sizeof(value));
        sum[i] += value;
    }
}

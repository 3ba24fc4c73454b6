/* The inner product of bf16 convolution: a block of up to 32 × 32 sums in float32, from rows of a
 * and columns of b that are packed as the instructions need them. The product itself is in
 * bf16_block_x86.h and bf16_block_arm.h. Included by conv_bf16.c, which is built once per
 * instruction set.
 *
 * a: rows of values, `row` apart; 32 values are a chunk of depth, and 16 rows are a tile.
 *
 * b: tiles of 32 depth × 16 columns, each stored as lines of 16 groups. The two or four values of a
 * group are neighbours in depth. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H
#define TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H

#include "train/kernels/simd.h"

#include <stdint.h>
#include <string.h>

enum {
    TILE = 16,                /* rows or columns of sums */
    CHUNK = 32,               /* values of depth */
    TILE_VALUES = 16 * CHUNK, /* in one tile of a or b */
    BLOCK = 2 * TILE,
#ifdef __aarch64__
    GROUP = 4,
#else
    GROUP = 2,
#endif
    LINE = TILE * GROUP, /* values in a line of b */
};

/* Distances in values. */
struct rows {
    const uint16_t *at;
    size_t row, chunk, tile;
};

struct columns {
    const uint16_t *at;
    size_t tile; /* distance of the tiles; the chunks of one tile are contiguous */
};

#ifdef __aarch64__
#include "train/kernels/bf16_block_arm.h"
#else
#include "train/kernels/bf16_block_x86.h"
#endif

/* Computes as many tiles as there are rows and columns left. */
static void block_any(size_t rows_left, size_t columns_left, struct rows a, struct columns b,
                      size_t chunks, float *c, size_t c_row, bool add)
{
    if (rows_left > TILE && columns_left > TILE)
        bf16_block_product(2, 2, a, b, chunks, c, c_row, add);
    else if (rows_left > TILE)
        bf16_block_product(2, 1, a, b, chunks, c, c_row, add);
    else if (columns_left > TILE)
        bf16_block_product(1, 2, a, b, chunks, c, c_row, add);
    else
        bf16_block_product(1, 1, a, b, chunks, c, c_row, add);
}

#endif

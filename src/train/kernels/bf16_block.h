/* The matrix product c = a × b inside bf16 convolution: a block of up to 32 × 32 sums in float32.
 * Rows of a and columns of b are packed as the instructions need them. The product itself is in
 * bf16_block_x86.h and bf16_block_arm.h. Included by conv_bf16.c, which is built once per
 * instruction set.
 *
 * Depth is the dimension over which products are summed. a has rows of bf16 values: 32 values of
 * depth are a chunk, and 16 rows are a tile.
 *
 * b has tiles of 32 values of depth × 16 columns. A tile is stored as lines of 16 groups, one group
 * per column. A group has GROUP values that are neighbours in depth. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H
#define TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H

#include "train/kernels/simd.h"

#include <stdint.h>
#include <string.h>

enum {
    TILE = 16,                /* rows or columns of sums per tile */
    CHUNK = 32,               /* values of depth per chunk */
    TILE_VALUES = 16 * CHUNK, /* values in one tile of a or b */
    BLOCK = 2 * TILE,
#ifdef __aarch64__
    GROUP = 4,
#else
    GROUP = 2,
#endif
    LINE = TILE * GROUP, /* values in a line of b */
};

/* The rows of a. `row`, `chunk` and `tile` are the distances, in values, from one row, chunk or
 * tile to the next. */
struct rows {
    const uint16_t *at;
    size_t row, chunk, tile;
};

struct columns {
    const uint16_t *at;
    /* distance, in values, from one tile of columns to the next; the chunks of a tile are
     * contiguous */
    size_t tile;
};

#ifdef __aarch64__
#include "train/kernels/bf16_block_arm.h"
#else
#include "train/kernels/bf16_block_x86.h"
#endif

/* Computes a block of one or two tiles in each direction, depending on the rows and columns that
 * are left. */
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

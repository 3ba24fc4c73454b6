/* The matrix product c = a × b inside bf16 convolution: a block of up to 32 × 32 sums in float32.
 * Rows of a and columns of b are packed as the instructions need them. bf16_block_x86.h and
 * bf16_block_arm.h have the product itself. conv_bf16.c and conv_bf16_weights.c include this header
 * through conv_bf16.h.
 *
 * Depth is the dimension over which products are summed. A chunk is 32 values of depth. A tile of a
 * is 16 rows × one chunk, and a tile of b is one chunk × 16 columns.
 *
 * A row of a has bf16 values. A tile of b is stored as lines. A line has 16 groups, one per column,
 * and a group has GROUP values that are neighbours in depth. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H
#define TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_H

#include "train/kernels/simd.h"

#include <stdint.h>
#include <string.h>

enum {
    TILE = 16,                /* rows or columns of sums per tile */
    CHUNK = 32,               /* values of depth per chunk */
    TILE_VALUES = 16 * CHUNK, /* values in one tile of a or b */
    BLOCK = 2 * TILE,         /* rows or columns of sums per block */
#ifdef __aarch64__
    GROUP = 4, /* values in a group of b */
#else
    GROUP = 2, /* values in a group of b */
#endif
    LINE = TILE * GROUP, /* values in a line of b */
};

/* The rows of a. The distances are counted in values: `row` from one row to the next, `chunk` from
 * a tile to the tile of the same rows in the next chunk, and `tile` from a tile to the tile of the
 * next 16 rows. */
struct rows {
    const uint16_t *at;
    size_t row, chunk, tile;
};

/* The columns of b. */
struct columns {
    const uint16_t *at;
    /* distance, in values, from a tile to the tile of the next 16 columns; the tiles of the same
     * columns are contiguous */
    size_t tile;
};

#ifdef __aarch64__
#include "train/kernels/bf16_block_arm.h"
#else
#include "train/kernels/bf16_block_x86.h"
#endif

/* Computes a block of one or two tiles in each direction, depending on the numbers of rows and
 * columns that are left. Sets the sums of whole tiles in c, or adds to them if `add` is set, even
 * if fewer rows or columns are left. The rows of c are c_row floats apart. */
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

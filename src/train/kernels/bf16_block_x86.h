/* The block product of bf16_block.h in two versions. With AMX, one instruction (`tdpbf16ps`) adds
 * 32 products to each of 16 × 16 sums. On processors without AMX, one instruction of AVX512-BF16
 * (`vdpbf16ps`) adds a pair of products to each of 16 sums. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_X86_H
#define TRAINYARD_TRAIN_KERNELS_BF16_BLOCK_X86_H

#include "train/kernels/bf16_block.h"

#include <immintrin.h>

#ifdef __AMX_BF16__

/* The configuration of the tile registers: all eight have 16 rows of 64 bytes. Byte 0 is the
 * palette, the bytes per row start at byte 16, and the numbers of rows start at byte 48. This is a
 * constant, because gcc 12 does not know that the instruction reads all 64 bytes. */
static const uint8_t TILE_SHAPES[64] __attribute__((aligned(64))) = {
    [0] = 1,   [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64,
    [26] = 64, [28] = 64, [30] = 64, [48] = 16, [49] = 16, [50] = 16,
    [51] = 16, [52] = 16, [53] = 16, [54] = 16, [55] = 16,
};

/* block_begin() configures the tile registers. block_end() releases them after each pass of a
 * convolution, because every context switch is slower while a thread has tiles in use. */
static void block_begin(void)
{
    _tile_loadconfig(TILE_SHAPES);
}

static void block_end(void)
{
    _tile_release();
}

/* c[16·row_tiles][16·column_tiles] = a × b + (add ? c : 0). The rows of c are c_row floats
 * apart. */
ALWAYS_INLINE void bf16_block_product(int row_tiles, int column_tiles, struct rows a,
                                      struct columns b, size_t chunks, float *c, size_t c_row,
                                      bool add)
{
    const bool wide = column_tiles > 1, high = row_tiles > 1;
    const size_t c_bytes = c_row * sizeof(*c), a_bytes = a.row * sizeof(*a.at);
    float *below = c + TILE * c_row;
    /* Makes the compiler write staged data to memory: gcc 12 does not know that loading a tile
     * reads memory. */
    __asm__ volatile("" ::: "memory");
    if (add) {
        _tile_loadd(0, c, c_bytes);
        if (wide)
            _tile_loadd(1, c + TILE, c_bytes);
        if (high)
            _tile_loadd(2, below, c_bytes);
        if (high && wide)
            _tile_loadd(3, below + TILE, c_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (size_t i = 0; i < chunks; i++, a.at += a.chunk, b.at += TILE_VALUES) {
        _tile_loadd(4, a.at, a_bytes);
        _tile_loadd(6, b.at, 64);
        _tile_dpbf16ps(0, 4, 6);
        if (wide) {
            _tile_loadd(7, b.at + b.tile, 64);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (high) {
            _tile_loadd(5, a.at + a.tile, a_bytes);
            _tile_dpbf16ps(2, 5, 6);
        }
        if (high && wide)
            _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, c_bytes);
    if (wide)
        _tile_stored(1, c + TILE, c_bytes);
    if (high)
        _tile_stored(2, below, c_bytes);
    if (high && wide)
        _tile_stored(3, below + TILE, c_bytes);
}

#else /* AVX512-BF16, which needs no preparation */

/* rows whose sums are in registers at the same time */
enum { STRIP = 8 };

static void block_begin(void)
{
}

static void block_end(void)
{
}

/* Adds to each of 16 sums the products of one pair of a row of a with the pair of one column. */
ALWAYS_INLINE __m512 bf16_block_pairs(__m512 sum, const uint16_t *pair, __m512i line)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32(both), (__m512bh)line);
}

ALWAYS_INLINE void bf16_block_strip(int column_tiles, const uint16_t *a, size_t a_row,
                                    size_t a_chunk, struct columns b, size_t chunks, float *c,
                                    size_t c_row, bool add)
{
    const bool wide = column_tiles > 1;
    __m512 low[STRIP], high[STRIP];
    UNROLL
    for (int m = 0; m < STRIP; m++) {
        low[m] = add ? _mm512_loadu_ps(c + (size_t)m * c_row) : _mm512_setzero_ps();
        high[m] = add && wide ? _mm512_loadu_ps(c + (size_t)m * c_row + TILE) : _mm512_setzero_ps();
    }
    for (size_t i = 0; i < chunks; i++, a += a_chunk)
        for (int pair = 0; pair < CHUNK / 2; pair++, b.at += CHUNK) {
            __m512i first = _mm512_loadu_si512(b.at),
                    second = wide ? _mm512_loadu_si512(b.at + b.tile) : first;
            UNROLL
            for (int m = 0; m < STRIP; m++) {
                const uint16_t *both = a + (size_t)m * a_row + 2 * pair;
                low[m] = bf16_block_pairs(low[m], both, first);
                if (wide)
                    high[m] = bf16_block_pairs(high[m], both, second);
            }
        }
    UNROLL
    for (int m = 0; m < STRIP; m++) {
        _mm512_storeu_ps(c + (size_t)m * c_row, low[m]);
        if (wide)
            _mm512_storeu_ps(c + (size_t)m * c_row + TILE, high[m]);
    }
}

ALWAYS_INLINE void bf16_block_product(int row_tiles, int column_tiles, struct rows a,
                                      struct columns b, size_t chunks, float *c, size_t c_row,
                                      bool add)
{
    for (int row = 0; row < row_tiles * TILE; row += STRIP)
        bf16_block_strip(column_tiles, a.at + (row / TILE) * a.tile + (row % TILE) * a.row, a.row,
                         a.chunk, b, chunks, c + (size_t)row * c_row, c_row, add);
}

#endif

#endif

/* The two inner loops of conv_direct.c for any vector width. conv_tile_product() computes the sums
 * of a tile of pixels × channels, and conv_tile_weights() computes the sums of a tile of taps ×
 * channels. conv_tile_neon.h has the same functions for NEON, which can multiply a vector by one
 * element of another vector. */
#ifndef TRAINYARD_TRAIN_KERNELS_CONV_TILE_H
#define TRAINYARD_TRAIN_KERNELS_CONV_TILE_H

#include "train/kernels/conv_walk.h"
#include "train/kernels/simd.h"

/* The tiles use all vector registers that are not needed for factors. TILE_ROWS is also limited by
 * the general registers, because each row has its own pointer. */
#if KERNELS_LANES == 16
enum { TILE_ROWS = 8, TILE_TAPS = 12 };
#elif KERNELS_LANES == 8 || defined(__x86_64__)
enum { TILE_ROWS = 6, TILE_TAPS = 6 };
#else
enum { TILE_ROWS = 8, TILE_TAPS = 8 };
#endif

/* Computes the products of TILE_ROWS pixels with a panel of `vectors` vectors, and stores the first
 * `rows` of them. */
ALWAYS_INLINE void conv_tile_product(int vectors, const float *const *from, float *const *to,
                                     int rows, const struct conv_walk *walk, const float *panel,
                                     bool accumulate)
{
    /* There is one array per vector instead of a loop over vectors, so that compilers keep the
     * arrays in registers. */
    vec low[TILE_ROWS], high[TILE_ROWS];
    const float *at[TILE_ROWS];
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++) {
        at[m] = from[m];
        low[m] = high[m] = (vec){0};
    }
    for (int run = 0; run < walk->runs; run++) {
        for (size_t k = 0; k < walk->length; k++, panel += vectors * LANES) {
            vec first = simd_load(panel), second = vectors > 1 ? simd_load(panel + LANES) : first;
            UNROLL
            for (int m = 0; m < TILE_ROWS; m++) {
                low[m] += at[m][k] * first;
                if (vectors > 1)
                    high[m] += at[m][k] * second;
            }
        }
        UNROLL
        for (int m = 0; m < TILE_ROWS; m++)
            at[m] += walk->run_stride;
    }
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++)
        if (m < rows) {
            simd_store(to[m], accumulate ? simd_load(to[m]) + low[m] : low[m]);
            if (vectors > 1)
                simd_store(to[m] + LANES,
                           accumulate ? simd_load(to[m] + LANES) + high[m] : high[m]);
        }
}

/* Adds the gradient of `taps` taps to as many rows of d_weights. d_out and d_weights point to the
 * first column of the panel. */
ALWAYS_INLINE void conv_tile_weights(int taps, int vectors, const struct conv_walk *walk,
                                     const float *from, const float *d_out, float *d_weights)
{
    vec low[TILE_TAPS], high[TILE_TAPS];
    UNROLL
    for (int m = 0; m < taps; m++)
        low[m] = high[m] = (vec){0};
    for (int n = 0; n < walk->n; n++)
        for (int y = 0; y < walk->h; y++) {
            const float *at = from + conv_walk_from(walk, n, y);
            for (int x = 0; x < walk->w; x++, at += walk->from_x, d_out += walk->to_x) {
                vec first = simd_load(d_out),
                    second = vectors > 1 ? simd_load(d_out + LANES) : first;
                UNROLL
                for (int m = 0; m < taps; m++) {
                    low[m] += at[m] * first;
                    if (vectors > 1)
                        high[m] += at[m] * second;
                }
            }
        }
    UNROLL
    for (int m = 0; m < taps; m++, d_weights += walk->to_x) {
        simd_store(d_weights, simd_load(d_weights) + low[m]);
        if (vectors > 1)
            simd_store(d_weights + LANES, simd_load(d_weights + LANES) + high[m]);
    }
}

#endif

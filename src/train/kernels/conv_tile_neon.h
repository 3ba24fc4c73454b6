/* The two inner loops of conv_direct.c for NEON, with the same functions as conv_tile.h. The
 * instruction FMLA (by element) multiplies a vector by one element of another vector. Four values
 * of depth, or of taps, are therefore loaded at once and used one after another, without an
 * instruction to broadcast each of them. */
#ifndef TRAINYARD_TRAIN_KERNELS_CONV_TILE_NEON_H
#define TRAINYARD_TRAIN_KERNELS_CONV_TILE_NEON_H

#include "train/kernels/conv_walk.h"
#include "train/kernels/simd.h"

#include <arm_neon.h>

_Static_assert(LANES == 4, "NEON has four floats in a vector");

/* NEON has 32 registers. A tile of rows uses 16 for sums and 8 for values, and a tile of taps uses
 * 24 for sums and 3 for values. */
enum { TILE_ROWS = 8, TILE_TAPS = 12 };

/* Adds the products of one value of depth. This is a macro because the lane must be a constant. */
#define PRODUCT_STEP(lane)                                                                         \
    do {                                                                                           \
        float32x4_t first = vld1q_f32(panel),                                                      \
                    second = vectors > 1 ? vld1q_f32(panel + LANES) : first;                       \
        panel += vectors * LANES;                                                                  \
        UNROLL                                                                                     \
        for (int m = 0; m < TILE_ROWS; m++) {                                                      \
            low[m] = vfmaq_laneq_f32(low[m], first, values[m], lane);                              \
            if (vectors > 1)                                                                       \
                high[m] = vfmaq_laneq_f32(high[m], second, values[m], lane);                       \
        }                                                                                          \
    } while (0)

/* Computes the products of TILE_ROWS pixels with a panel of `vectors` vectors, and stores the first
 * `rows` of them. */
ALWAYS_INLINE void conv_tile_product(int vectors, const float *const *from, float *const *to,
                                     int rows, const struct conv_walk *walk, const float *panel,
                                     bool accumulate)
{
    float32x4_t low[TILE_ROWS], high[TILE_ROWS], values[TILE_ROWS];
    const float *at[TILE_ROWS];
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++) {
        at[m] = from[m];
        low[m] = high[m] = vdupq_n_f32(0);
    }
    for (int run = 0; run < walk->runs; run++) {
        size_t k = 0;
        for (; k + LANES <= walk->length; k += LANES) {
            UNROLL
            for (int m = 0; m < TILE_ROWS; m++)
                values[m] = vld1q_f32(at[m] + k);
            PRODUCT_STEP(0);
            PRODUCT_STEP(1);
            PRODUCT_STEP(2);
            PRODUCT_STEP(3);
        }
        for (; k < walk->length; k++) {
            UNROLL
            for (int m = 0; m < TILE_ROWS; m++)
                values[m] = vdupq_n_f32(at[m][k]);
            PRODUCT_STEP(0);
        }
        UNROLL
        for (int m = 0; m < TILE_ROWS; m++)
            at[m] += walk->run_stride;
    }
    UNROLL
    for (int m = 0; m < TILE_ROWS; m++)
        if (m < rows) {
            vst1q_f32(to[m], accumulate ? vaddq_f32(vld1q_f32(to[m]), low[m]) : low[m]);
            if (vectors > 1)
                vst1q_f32(to[m] + LANES,
                          accumulate ? vaddq_f32(vld1q_f32(to[m] + LANES), high[m]) : high[m]);
        }
}

/* Adds the products of one of the four taps in `values`. */
#define WEIGHTS_STEP(lane)                                                                         \
    do {                                                                                           \
        low[m + lane] = vfmaq_laneq_f32(low[m + lane], first, values, lane);                       \
        if (vectors > 1)                                                                           \
            high[m + lane] = vfmaq_laneq_f32(high[m + lane], second, values, lane);                \
    } while (0)

/* Adds the gradient of `taps` taps to as many rows of d_weights. d_out and d_weights point to the
 * first column of the panel. `taps` is a multiple of 4, or 1. */
ALWAYS_INLINE void conv_tile_weights(int taps, int vectors, const struct conv_walk *walk,
                                     const float *from, const float *d_out, float *d_weights)
{
    float32x4_t low[TILE_TAPS], high[TILE_TAPS];
    UNROLL
    for (int m = 0; m < taps; m++)
        low[m] = high[m] = vdupq_n_f32(0);
    for (int n = 0; n < walk->n; n++)
        for (int y = 0; y < walk->h; y++) {
            const float *at = from + conv_walk_from(walk, n, y);
            for (int x = 0; x < walk->w; x++, at += walk->from_x, d_out += walk->to_x) {
                float32x4_t first = vld1q_f32(d_out),
                            second = vectors > 1 ? vld1q_f32(d_out + LANES) : first;
                UNROLL
                for (int m = 0; m < taps; m += LANES) {
                    float32x4_t values = taps < LANES ? vdupq_n_f32(*at) : vld1q_f32(at + m);
                    WEIGHTS_STEP(0);
                    if (taps < LANES)
                        continue;
                    WEIGHTS_STEP(1);
                    WEIGHTS_STEP(2);
                    WEIGHTS_STEP(3);
                }
            }
        }
    UNROLL
    for (int m = 0; m < taps; m++, d_weights += walk->to_x) {
        vst1q_f32(d_weights, vaddq_f32(vld1q_f32(d_weights), low[m]));
        if (vectors > 1)
            vst1q_f32(d_weights + LANES, vaddq_f32(vld1q_f32(d_weights + LANES), high[m]));
    }
}

#undef PRODUCT_STEP
#undef WEIGHTS_STEP

#endif

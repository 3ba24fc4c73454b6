/* The inner loops of the all-reduce algorithms: sums of floats, and conversion to bfloat16. Called
 * by the collectives, by the tcp transport and by ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_REDUCE_H
#define TRAINYARD_COMM_TRANSPORT_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* Computes sum[i] = sum[i] + other[i]. The arrays must not overlap; `other` may be unaligned. */
void reduce_add_f32(float *sum, const void *other, size_t count);

/* Computes to[i] = rows[0][i] + rows[1][i] + …, in this order. There is at least one row. `to` may
 * be one of the rows, but must not overlap a row partly. */
void reduce_rows_f32(float *to, float *const *rows, size_t row_count, size_t count);

/* Writes the sum of all rows, in the order of rows, into every row. This is the work of one member
 * in an in-place all-reduce. */
void reduce_rows_in_place_f32(float *const *rows, size_t row_count, size_t count);

/* Converts to bfloat16, the upper half of a float, rounding to nearest even; a NaN stays a NaN.
 * `bits` must not overlap the floats. */
void reduce_narrow_bf16(uint16_t *bits, const float *from, size_t count);
/* Converts from bfloat16, which is exact. */
void reduce_widen_bf16(float *to, const uint16_t *bits, size_t count);
/* Computes sum[i] = sum[i] + bits[i], as floats. */
void reduce_add_bf16(float *sum, const uint16_t *bits, size_t count);

#endif

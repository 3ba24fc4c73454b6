/* Adding up what members have: the inner loops of every all-reduce. */
#ifndef TRAINYARD_COMM_REDUCE_H
#define TRAINYARD_COMM_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* sum[i] = sum[i] + other[i]; they do not overlap, `other` may be unaligned. */
void reduce_add_f32(float *sum, const void *other, size_t count);

/* to[i] = rows[0][i] + rows[1][i] + …, in this order; `to` overlaps no row, or is one of them. */
void reduce_rows_f32(float *to, float *const *rows, size_t row_count, size_t count);

/* The same, written into every row: what one member does of an all-reduce in place. */
void reduce_rows_in_place_f32(float *const *rows, size_t row_count, size_t count);

/* bfloat16: the upper half of a float, rounded to the nearest (to even); what is no number stays
 * none. Back, it is exact. `bits` may not overlap the floats. */
void reduce_narrow_bf16(uint16_t *bits, const float *from, size_t count);
void reduce_widen_bf16(float *to, const uint16_t *bits, size_t count);
/* sum[i] = sum[i] + bits[i], as floats. */
void reduce_add_bf16(float *sum, const uint16_t *bits, size_t count);

#endif

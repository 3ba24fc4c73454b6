/* Adding what came over the wire to what is here: the inner loop of every all-reduce. */
#ifndef TRAINYARD_COMM_REDUCE_H
#define TRAINYARD_COMM_REDUCE_H

#include <stddef.h>

/* sum[i] = sum[i] + other[i]; they do not overlap, `other` may be unaligned. */
void reduce_add_f32(float *sum, const void *other, size_t count);

#endif

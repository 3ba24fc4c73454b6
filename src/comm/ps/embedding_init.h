/* Computes the initial values of a row. They depend only on seed, id and range, so that every
 * server, every worker and every run computes the same values, and no process needs to store them.
 * Called by embedding_table. */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_INIT_H
#define TRAINYARD_COMM_PS_EMBEDDING_INIT_H

#include <stddef.h>
#include <stdint.h>

/* Computes `count` values, which are distributed uniformly between -range and range. */
void embedding_init_uniform(uint64_t seed, int64_t id, float range, float *ret, size_t count);

#endif

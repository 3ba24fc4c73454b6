/* The values a row has before anybody pushed to it: drawn from (seed, id) alone, so that every
 * server, every worker and every run sees the same, and nobody needs to keep them. */
#ifndef TRAINYARD_COMM_EMBEDDING_INIT_H
#define TRAINYARD_COMM_EMBEDDING_INIT_H

#include <stddef.h>
#include <stdint.h>

/* `count` values, uniform in ±range. */
void embedding_init_uniform(uint64_t seed, int64_t id, float range, float *ret, size_t count);

#endif

/* The order of samples: an epoch shows every sample once, in an order that depends only on the seed
 * and the epoch. A batch therefore depends only on its step, and workers that share batches, or
 * take turns with them, need no communication about it. Used by one thread at a time. */
#ifndef TRAINYARD_TRAIN_DATA_SHUFFLE_H
#define TRAINYARD_TRAIN_DATA_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

struct shuffle {
    uint64_t seed, epoch;
    size_t count;
    uint32_t *order; /* of the epoch that was asked for last */
};

void shuffle_init(struct shuffle *shuffle, uint64_t seed, size_t count); /* 1 … UINT32_MAX */
void shuffle_release(struct shuffle *shuffle);                           /* safe on zeroed memory */

/* The sample at a position in the endless sequence of epochs. */
size_t shuffle_at(struct shuffle *shuffle, uint64_t position);

#endif

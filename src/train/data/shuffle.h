/* Shuffles the samples of each epoch. An epoch has every sample once, in an order that depends only
 * on the seed and the epoch. A batch therefore depends only on its step, and workers need no
 * communication to agree on it. One thread at a time may use a shuffle. */
#ifndef TRAINYARD_TRAIN_DATA_SHUFFLE_H
#define TRAINYARD_TRAIN_DATA_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

struct shuffle {
    uint64_t seed, epoch;
    size_t count;
    uint32_t *order; /* the order of epoch `epoch` */
};

void shuffle_init(struct shuffle *shuffle, uint64_t seed, size_t count); /* count: 1 … UINT32_MAX */
void shuffle_release(struct shuffle *shuffle);                           /* safe on zeroed memory */

/* Returns the sample at a position in the endless sequence of epochs. */
size_t shuffle_at(struct shuffle *shuffle, uint64_t position);

#endif

/* Shuffles the samples of each epoch. An epoch has every sample once, in an order that depends only
 * on the seed, the epoch and the number of samples. A batch therefore depends only on its step, and
 * workers need no communication to agree on it. The trainer of classifiers uses it. Only one thread
 * at a time may use a shuffle. */
#ifndef TRAINYARD_TRAIN_DATA_SHUFFLE_H
#define TRAINYARD_TRAIN_DATA_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

struct shuffle {
    uint64_t seed, epoch;
    size_t count;    /* number of samples */
    uint32_t *order; /* the order of the samples in epoch `epoch` */
};

void shuffle_init(struct shuffle *shuffle, uint64_t seed, size_t count); /* count: 1 … UINT32_MAX */
void shuffle_release(struct shuffle *shuffle);                           /* safe on zeroed memory */

/* Returns the number of the sample at a position in the endless sequence of epochs. */
size_t shuffle_at(struct shuffle *shuffle, uint64_t position);

#endif

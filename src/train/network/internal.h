/* The inside of a network, for the files that build it and run its passes. */
#ifndef TRAINYARD_TRAIN_NETWORK_INTERNAL_H
#define TRAINYARD_TRAIN_NETWORK_INTERNAL_H

#include "train/network/network.h"

struct network {
    struct params *params;
    struct shape input;
    enum precision precision; /* of the layers added from now on */
    struct layer layers[NETWORK_LAYERS_MAX];
    int count;
    struct err error; /* the first mistake in building */
    bool finished;
    float *packed;
    size_t packed_offset[NETWORK_LAYERS_MAX];
    /* index of the first parameter of each layer, ascending */
    size_t first_param[NETWORK_LAYERS_MAX + 1];
    /* floats for sums over the whole batch, and where each layer has its own */
    size_t totals, total_offset[NETWORK_LAYERS_MAX];
    bool reached[NETWORK_LAYERS_MAX + 1]; /* whether a tensor has a gradient */
    /* an earlier layer of the backward pass has set this gradient already */
    bool accumulate[NETWORK_LAYERS_MAX][LAYER_INPUTS_MAX];
};

/* Returns zeroed memory. The caller frees it. */
float *network_floats_new(size_t count);

/* Rounds up to a multiple of a cache line. */
static inline size_t network_aligned(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

#endif

/* The struct of a network, for network.c, which builds it, and pass.c, which runs its passes. */
#ifndef TRAINYARD_TRAIN_NETWORK_INTERNAL_H
#define TRAINYARD_TRAIN_NETWORK_INTERNAL_H

#include "train/network/network.h"

struct network {
    struct params *params;
    struct shape input;
    enum precision precision; /* precision of the next layer that is added */
    struct layer layers[NETWORK_LAYERS_MAX];
    int count;
    struct err error; /* the first error while the network is built */
    bool finished;
    float *packed;
    size_t packed_offset[NETWORK_LAYERS_MAX];
    /* index of the first parameter of each layer, ascending */
    size_t first_param[NETWORK_LAYERS_MAX + 1];
    /* number of floats for the sums over the whole batch, and the offset of each layer in them */
    size_t totals, total_offset[NETWORK_LAYERS_MAX];
    /* tensors for which the backward pass computes a gradient */
    bool reached[NETWORK_LAYERS_MAX + 1];
    /* accumulate[layer][input]: the layer adds to the gradient of this input, because another layer
     * has already set it in the same pass */
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

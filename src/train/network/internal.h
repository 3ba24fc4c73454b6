/* What the building of a network and its passes share; nobody else looks inside. */
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
    size_t first_param[NETWORK_LAYERS_MAX + 1]; /* of the layer; they lie in order of the layers */
    size_t totals, total_offset[NETWORK_LAYERS_MAX]; /* of layers that look at the whole batch */
    bool reached[NETWORK_LAYERS_MAX + 1];            /* whether a tensor has a gradient */
    bool accumulate[NETWORK_LAYERS_MAX][LAYER_INPUTS_MAX]; /* it is there before this layer */
};

/* Zeros; free() them. */
float *network_floats_new(size_t count);

/* Floats, so that the next ones start at a cache line. */
static inline size_t network_aligned(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

#endif

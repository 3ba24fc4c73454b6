/* The struct of a network. network.c builds it, and pass.c runs its passes. No other file includes
 * this header. */
#ifndef TRAINYARD_TRAIN_NETWORK_INTERNAL_H
#define TRAINYARD_TRAIN_NETWORK_INTERNAL_H

#include "train/network/network.h"

struct network {
    struct params *params;    /* owned by the caller of network_new() */
    struct shape input;       /* shape of one sample */
    enum precision precision; /* precision of the next layer that is added */
    struct layer layers[NETWORK_LAYERS_MAX];
    int count;        /* number of layers */
    struct err error; /* the first error while the network is built */
    bool finished;    /* network_finish() has succeeded: no layer can be added */
    float *packed;    /* packed weights of all layers, in one block */
    size_t packed_offset[NETWORK_LAYERS_MAX]; /* offset of each layer in `packed` */
    /* first_param[i]: index of the first parameter entry of layer i; first_param[count]: number of
     * entries */
    size_t first_param[NETWORK_LAYERS_MAX + 1];
    size_t totals;                           /* result of network_total_count() */
    size_t total_offset[NETWORK_LAYERS_MAX]; /* offset of each layer in the merged sums */
    /* tensors that influence the output of the network, so that their gradient is computed */
    bool reached[NETWORK_LAYERS_MAX + 1];
    /* accumulate[layer][input]: the layer adds to the gradient of this input, because another layer
     * has already set it in the same pass */
    bool accumulate[NETWORK_LAYERS_MAX][LAYER_INPUTS_MAX];
};

/* Returns zeroed memory, aligned at least to a cache line. Aborts the process if the memory cannot
 * be allocated. The caller frees it with free(). */
float *network_floats_new(size_t count);

/* Rounds a number of floats up to a multiple of a cache line. */
static inline size_t network_aligned(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

#endif

/* Shapes and tensors. A tensor always carries its shape, so a kernel can be read, and its caller
 * checked, without knowing the model. Everything is float32 in NHWC order: the channels of one
 * pixel are contiguous, as the vector kernels and the inner loop of the convolution need them.
 * Nothing here owns memory: a tensor is a view into an arena of its creator. */
#ifndef TRAINYARD_TRAIN_LAYERS_TENSOR_H
#define TRAINYARD_TRAIN_LAYERS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

/* A vector of k values per sample is h = w = 1, c = k. */
struct shape {
    int n; /* samples */
    int h, w;
    int c;
};

struct tensor {
    struct shape shape;
    float *data;
};

/* Values in one sample, and in all of them. */
static inline size_t shape_sample(const struct shape *shape)
{
    return (size_t)shape->h * (size_t)shape->w * (size_t)shape->c;
}

static inline size_t shape_count(const struct shape *shape)
{
    return (size_t)shape->n * shape_sample(shape);
}

/* The same sample shape; the number of samples does not count. */
static inline bool shape_same_sample(const struct shape *a, const struct shape *b)
{
    return a->h == b->h && a->w == b->w && a->c == b->c;
}

#endif

/* Shapes and tensors, for layers and networks. Tensors are float32 in NHWC order: the channels of
 * one pixel are contiguous, as the vector kernels need them. A tensor does not own its memory. The
 * memory belongs to the code that created the tensor. */
#ifndef TRAINYARD_TRAIN_LAYERS_TENSOR_H
#define TRAINYARD_TRAIN_LAYERS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

/* The shape of a tensor. For vectors of k values, h and w are 1, and c is k. */
struct shape {
    int n; /* number of samples */
    int h, w;
    int c;
};

struct tensor {
    struct shape shape;
    float *data;
};

/* Returns the number of values in one sample. */
static inline size_t shape_sample(const struct shape *shape)
{
    return (size_t)shape->h * (size_t)shape->w * (size_t)shape->c;
}

/* Returns the number of values in all samples. */
static inline size_t shape_count(const struct shape *shape)
{
    return (size_t)shape->n * shape_sample(shape);
}

/* Returns whether the samples have the same shape. Ignores the number of samples. */
static inline bool shape_same_sample(const struct shape *a, const struct shape *b)
{
    return a->h == b->h && a->w == b->w && a->c == b->c;
}

#endif

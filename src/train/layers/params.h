/* The parameters of a model: one block of floats for all values (the value arena), one for all
 * gradients (the gradient arena), and a table of names and shapes. With one block, a checkpoint
 * needs one write, and an all-reduce needs one buffer.
 *
 * Layers first declare their parameters. Then params_allocate() allocates the arenas, and their
 * addresses never change. The gradient arena is shared memory, so that workers on the same machine
 * can sum in it. It has PARAMS_TAIL more floats after the last gradient, for numbers that are
 * summed together with the gradients. */
#ifndef TRAINYARD_TRAIN_LAYERS_PARAMS_H
#define TRAINYARD_TRAIN_LAYERS_PARAMS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "comm/transport/shared_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_start {
    PARAM_ZERO,
    PARAM_ONE,
    PARAM_HE,     /* normally distributed, variance 2 / fan-in; used before a ReLU */
    PARAM_XAVIER, /* normally distributed, variance 1 / fan-in */
    /* A parameter that is not trained: its gradient stays 0, and neither the optimizer nor weight
     * decay changes it. It is part of checkpoints and of the state that workers exchange. */
    PARAM_KEPT_ZERO,
    PARAM_KEPT_ONE,
};

enum {
    PARAM_NAME_MAX = 64,
    PARAM_DIMS = 4,
    PARAMS_MAX = 1024,                 /* number of entries */
    PARAMS_FLOATS_MAX = 256 * 1000000, /* floats of all entries together */
    PARAMS_TAIL = 16,                  /* floats after the gradients, summed with the gradients */
    PARAMS_ALIGN = 16,                 /* each entry starts at a multiple of this, in floats */
};

struct param {
    char name[PARAM_NAME_MAX]; /* "block1.conv1.weights" */
    int dims[PARAM_DIMS];      /* 1 where not used */
    enum param_start start;
    int fan_in;           /* number of inputs of one output; 0 if `start` does not need it */
    size_t offset, count; /* in floats; the same in both arenas */
};

struct params {
    struct param *entries;
    size_t count;
    size_t floats; /* length of the value arena, including padding */
    float *values;
    float *gradients; /* has floats + PARAMS_TAIL floats */
    /* the memory of `gradients`, which workers on one machine share */
    struct shared_memory *gradients_memory;
    size_t mapped; /* number of bytes mapped for `values` */
};

struct params *params_new(void);
struct params *params_free(struct params *params); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(params)

/* Adds a parameter and returns its index. Must be called before params_allocate(). A duplicate or
 * overlong name, and parameters beyond the limits above, are bugs of the model and abort the
 * process. */
size_t params_declare(struct params *params, const char *name, const int dims[PARAM_DIMS],
                      enum param_start start, int fan_in);
/* Allocates both arenas, filled with zeros. Returns an error if memory cannot be mapped. Must be
 * called only once. */
int params_allocate(struct params *params, struct err *err);

/* Sets the initial values. Each entry is drawn from a stream keyed by the seed and its name, so
 * that adding or removing a layer does not change the other entries. */
void params_initialise(struct params *params, uint64_t seed);

/* Returns a hash of the names and shapes of the parameters, in their order. */
uint64_t params_shape_hash(const struct params *params);

/* Sets all gradients, and the floats after them, to 0. */
void params_clear_gradients(struct params *params);
size_t params_trainable(const struct params *params); /* number of trained values */

static inline bool param_is_trained(const struct param *param)
{
    return param->start != PARAM_KEPT_ZERO && param->start != PARAM_KEPT_ONE;
}

static inline float *params_value(const struct params *params, size_t index)
{
    return params->values + params->entries[index].offset;
}

static inline float *params_gradient(const struct params *params, size_t index)
{
    return params->gradients + params->entries[index].offset;
}

#endif

/* The parameters of a model: one arena for all values, one for all gradients, and a table of names
 * and shapes. With one arena a checkpoint is one write, and an all-reduce one buffer.
 *
 * Layers declare their parameters; then the arenas are allocated once, and nothing moves
 * afterwards. Workers on the same machine can share the memory of the gradient arena. It has a few
 * floats behind the last gradient for numbers that are summed together with the gradients. */
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
    PARAM_HE,     /* normal, variance 2 / fan-in: in front of a ReLU */
    PARAM_XAVIER, /* normal, variance 1 / fan-in */
    /* Not trained: it has no gradient, and neither optimizer nor weight decay changes it. It is
     * part of checkpoints and of the state that workers exchange. */
    PARAM_KEPT_ZERO,
    PARAM_KEPT_ONE,
};

enum {
    PARAM_NAME_MAX = 64,
    PARAM_DIMS = 4,
    PARAMS_MAX = 1024,                 /* entries */
    PARAMS_FLOATS_MAX = 256 * 1000000, /* values in all */
    PARAMS_TAIL = 16,                  /* floats behind the gradients that are summed with them */
    PARAMS_ALIGN = 16,                 /* an entry starts at a multiple of this many floats */
};

struct param {
    char name[PARAM_NAME_MAX]; /* "block1.conv1.weights" */
    int dims[PARAM_DIMS];      /* 1 where not used */
    enum param_start start;
    int fan_in;
    size_t offset, count; /* in floats, in both arenas */
};

struct params {
    struct param *entries;
    size_t count;
    size_t floats; /* length of the value arena, padding included */
    float *values;
    float *gradients; /* floats + PARAMS_TAIL */
    /* holds the gradients; workers of one machine sum there */
    struct shared_memory *gradients_memory;
    size_t mapped; /* bytes mapped for the values */
};

struct params *params_new(void);
struct params *params_free(struct params *params); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(params)

/* Must be called before params_allocate(). Returns the index. A duplicate name, or too many
 * parameters, is a defect of the model and ends the process. */
size_t params_declare(struct params *params, const char *name, const int dims[PARAM_DIMS],
                      enum param_start start, int fan_in);
int params_allocate(struct params *params, struct err *err);

/* Sets the initial values. Each entry is drawn from a stream keyed by the seed and its name, so
 * that adding or removing a layer does not change the others. */
void params_initialise(struct params *params, uint64_t seed);

/* Equal for equal names and shapes in equal order. */
uint64_t params_shape_hash(const struct params *params);

void params_clear_gradients(struct params *params);
size_t params_trainable(const struct params *params); /* values without padding */

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

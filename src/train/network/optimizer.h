/* Optimizers: SGD with momentum, Adagrad, and Adam with decoupled weight decay. The state of an
 * optimizer consists of slots. Each slot has one float per float of the value arena (params.h), so
 * a checkpoint can store the slots like the values. In synchronous training every worker runs the
 * same step on the same summed gradient. */
#ifndef TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H
#define TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H

#include "train/layers/params.h"

#include <stdbool.h>
#include <stdint.h>

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAGRAD };

/* Adagrad: the initial value of each sum of squared gradients. It prevents a division by zero. */
#define OPTIMIZER_ADAGRAD_START 1e-6f

struct optimizer {
    enum optimizer_kind kind;
    float momentum;     /* SGD: momentum; Adam: beta 1 */
    float decay_square; /* Adam: beta 2 */
    float epsilon;      /* Adam: added to the divisor */
    float weight_decay; /* only for parameters with random initial values: weights, not biases */
    int slot_count;     /* 1 for SGD and Adagrad, 2 for Adam */
    float *slots;       /* slot_count × floats values */
    size_t floats;      /* number of floats per slot */
};

/* Creates the optimizer and its slots. The parameters must be allocated. The caller frees it. */
struct optimizer *optimizer_new(enum optimizer_kind kind, float weight_decay,
                                const struct params *params);
struct optimizer *optimizer_free(struct optimizer *optimizer); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(optimizer)

const char *optimizer_name(enum optimizer_kind kind); /* "sgd", "adam", "adagrad" */

/* Scales the gradient of all parameters down to the norm `max_norm` if its norm is larger and
 * finite. Returns the norm before scaling. If max_norm is 0, changes nothing and returns 0. The
 * same gradient gives the same bits on every processor. */
double optimizer_clip(struct params *params, float max_norm);
/* Checks the value of --clip. Returns 0, or -ERR_INVALID if it is negative or not finite. */
int optimizer_clip_check(float max_norm, struct err *err);

/* Updates the values from the gradients. `step` counts from 1; the bias correction of Adam depends
 * on it. */
void optimizer_step(struct optimizer *optimizer, struct params *params, uint64_t step, float rate);

/* Like optimizer_step(), but only for the floats `first` to `last` - 1 of the value arena. Every
 * float is updated independently, so several threads may update different slices at once. */
void optimizer_step_slice(struct optimizer *optimizer, struct params *params, uint64_t step,
                          float rate, size_t first, size_t last);

/* The schedule of the learning rate. The rate rises linearly to `rate` during the first `warm_up`
 * steps. Then it stays constant, or falls along half a cosine to `rate` / 100 at step `steps`. */
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

struct schedule {
    enum schedule_kind kind;
    float rate;       /* the largest learning rate */
    uint64_t warm_up; /* number of steps in which the rate rises; 0: none */
    uint64_t steps;   /* number of steps of the whole run */
};

/* Returns the learning rate of a step. `step` counts from 1. */
float optimizer_schedule_rate(const struct schedule *schedule, uint64_t step);

#endif

/* Optimizers: SGD with momentum, Adagrad, and Adam with decoupled weight decay. The state consists
 * of slots, each with the layout of the parameter arena, so a checkpoint can write them unchanged.
 * Every worker runs the same step on the same reduced gradient. */
#ifndef TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H
#define TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H

#include "train/layers/params.h"

#include <stdbool.h>
#include <stdint.h>

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAGRAD };

/* Adagrad: the initial value of each sum of squared gradients, which is small compared to the
 * square of any relevant gradient. */
#define OPTIMIZER_ADAGRAD_START 1e-6f

struct optimizer {
    enum optimizer_kind kind;
    float momentum;     /* SGD: momentum; Adam: beta 1 */
    float decay_square; /* Adam: beta 2 */
    float epsilon;      /* Adam: added to the divisor */
    float weight_decay; /* applied to weights, but not to biases, scales and shifts */
    int slot_count;     /* 1 for SGD and Adagrad, 2 for Adam */
    float *slots;       /* slot_count × floats values */
    size_t floats;
};

struct optimizer *optimizer_new(enum optimizer_kind kind, float weight_decay,
                                const struct params *params);
struct optimizer *optimizer_free(struct optimizer *optimizer); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(optimizer)

const char *optimizer_name(enum optimizer_kind kind); /* "sgd", "adam", "adagrad" */

/* Scales the gradient of all parameters down to the norm `longest` if its norm is larger and
 * finite. Returns the norm before scaling. If `longest` is 0, changes nothing and returns 0. The
 * same gradient gives the same bits on every processor. */
double optimizer_clip(struct params *params, float longest);
int optimizer_clip_check(float longest, struct err *err); /* checks the value of --clip */

/* Runs one step. `step` counts from 1; the bias correction of Adam depends on it. */
void optimizer_step(struct optimizer *optimizer, struct params *params, uint64_t step, float rate);

/* Like optimizer_step(), but only for the floats `first` to `last` - 1 of the arena. Every float is
 * updated independently, so several threads may update different slices at the same time. */
void optimizer_step_slice(struct optimizer *optimizer, struct params *params, uint64_t step,
                          float rate, size_t first, size_t last);

/* The schedule of the learning rate. The rate rises linearly during the first `warm_up` steps. Then
 * it stays constant, or falls along half a cosine to `rate` / 100 at the last step. */
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

struct schedule {
    enum schedule_kind kind;
    float rate;
    uint64_t warm_up, steps;
};

/* `step` counts from 1. */
float optimizer_schedule_rate(const struct schedule *schedule, uint64_t step);

#endif

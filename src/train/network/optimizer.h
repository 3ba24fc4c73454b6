/* Optimizers: SGD with momentum, Adagrad, and Adam with decoupled weight decay. The state consists
 * of slots laid out like the parameter arena, so a checkpoint writes them as they are. Every worker
 * runs the same step on the same reduced gradient. */
#ifndef TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H
#define TRAINYARD_TRAIN_NETWORK_OPTIMIZER_H

#include "train/layers/params.h"

#include <stdbool.h>
#include <stdint.h>

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAGRAD };

/* The initial sums of squares: small compared to the square of any relevant gradient. */
#define OPTIMIZER_ADAGRAD_START 1e-6f

struct optimizer {
    enum optimizer_kind kind;
    float momentum;     /* SGD: of the velocity; Adam: of the mean (beta 1) */
    float decay_square; /* Adam: of the mean square (beta 2) */
    float epsilon;      /* Adam */
    float weight_decay; /* of weights, not of biases, scales and shifts */
    int slot_count;     /* SGD and Adagrad 1, Adam 2 */
    float *slots;       /* slot_count · params->floats */
    size_t floats;
};

struct optimizer *optimizer_new(enum optimizer_kind kind, float weight_decay,
                                const struct params *params);
struct optimizer *optimizer_free(struct optimizer *optimizer); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(optimizer)

const char *optimizer_name(enum optimizer_kind kind); /* "sgd", "adam", "adagrad" */

/* Scales the gradient of all parameters down to the length `longest` if it is longer; 0: never.
 * Returns its length before. Workers that call it with the same reduced gradient get the same bits
 * on any processor. */
double optimizer_clip(struct params *params, float longest);
int optimizer_clip_check(float longest, struct err *err); /* checks the value of --clip */

/* Runs one step. `step` counts from 1; the bias correction of Adam depends on it. */
void optimizer_step(struct optimizer *optimizer, struct params *params, uint64_t step, float rate);

/* Like optimizer_step(), but only for the floats `first` to `last` - 1 of the arena. Every float is
 * updated independently, so threads may work on any slices. */
void optimizer_step_slice(struct optimizer *optimizer, struct params *params, uint64_t step,
                          float rate, size_t first, size_t last);

/* The learning rate over a run: it rises linearly during the first `warm_up` steps. Then it stays
 * constant, or falls along half a cosine to a hundredth at the end. */
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

struct schedule {
    enum schedule_kind kind;
    float rate;
    uint64_t warm_up, steps;
};

float optimizer_schedule_rate(const struct schedule *schedule, uint64_t step); /* counts from 1 */

#endif

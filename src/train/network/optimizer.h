/* How a gradient changes the parameters: SGD with momentum, Adagrad, or Adam with the weight decay
 * kept out of the moments. The state is slots laid out like the parameter arena, so a checkpoint
 * writes them as they are. Every worker runs the same step on the same reduced gradient. */
#ifndef TRAINYARD_TRAIN_OPTIMIZER_H
#define TRAINYARD_TRAIN_OPTIMIZER_H

#include "train/layers/params.h"

#include <stdbool.h>
#include <stdint.h>

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAGRAD };

/* Of the sums of squares: small beside the square of any gradient that matters. */
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

/* A gradient, over all parameters together, that is longer than `longest` is shortened to it; 0:
 * never. Returns the length it had. Workers that call it with the same reduced gradient get the
 * same bits, whatever vectors their processors have. */
double optimizer_clip(struct params *params, float longest);
int optimizer_clip_check(float longest, struct err *err); /* of what a user wants */

/* `step` counts from 1: Adam's correction of the first steps depends on it. */
void optimizer_step(struct optimizer *optimizer, struct params *params, uint64_t step, float rate);

/* The same for the parameters `first` to `last` - 1 of the arena alone: each is updated on its own,
 * so threads may take slices of it, however these are cut. */
void optimizer_step_slice(struct optimizer *optimizer, struct params *params, uint64_t step,
                          float rate, size_t first, size_t last);

/* The learning rate over a run: up in a straight line during the first `warm_up` steps, then
 * constant, or down along half a cosine to a hundredth at the end. */
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

struct schedule {
    enum schedule_kind kind;
    float rate;
    uint64_t warm_up, steps;
};

float optimizer_schedule_rate(const struct schedule *schedule, uint64_t step); /* counts from 1 */

#endif

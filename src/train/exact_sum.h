/* Sums of gradients that come out the same bits in whatever order and grouping they are added, so
 * that a batch gives the same step on one worker or on many. Each part of the batch is rounded to
 * multiples of a quantum, one for each parameter, chosen so that all sums of them are exact in
 * float32. The quantum follows from the last step's summed gradient, which all workers share. What
 * rounding costs lies near the seventeenth bit of the largest gradient of a parameter.
 *
 * A gradient that grows by more than HEADROOM from one step to the next is added as usual: then the
 * last bits depend on the order again, and nothing else is wrong. */
#ifndef TRAINYARD_TRAIN_EXACT_SUM_H
#define TRAINYARD_TRAIN_EXACT_SUM_H

#include "train/kernels/kernels.h"
#include "train/params.h"

struct exact_sum {
    float *quantum; /* one for each entry of the parameters */
};

void exact_sum_init(struct exact_sum *sum, const struct params *params);
void exact_sum_release(struct exact_sum *sum);

/* total += part, rounded; both laid out like params->gradients. Of the entries `first` to `last` -
 * 1 only. */
void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total);

/* Choose the quanta of the next step from the summed gradient of all workers. */
void exact_sum_learn(struct exact_sum *sum, const struct params *params, const float *total);

#endif

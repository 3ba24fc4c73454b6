/* Sums of gradients that come out the same bits in whatever order and grouping they are added, so
 * that a batch gives the same step on one worker or on many. Each part of the batch is rounded to
 * multiples of a quantum, one for each parameter, chosen so that all sums of them are exact in
 * float32. The quantum follows from the largest gradient of any part in the step before, of which
 * all workers know. What rounding costs lies near the sixteenth bit of that.
 *
 * Parts that outgrow the quantum are added as well as floats can; exact_sum_fits() tells it
 * afterwards, and whoever wants the same bits learns from them and adds them once more. */
#ifndef TRAINYARD_TRAIN_EXACT_SUM_H
#define TRAINYARD_TRAIN_EXACT_SUM_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"

#include <stdbool.h>

struct exact_sum {
    float *quantum; /* one for each entry of the parameters, a power of 2; 0: nothing is known */
};

void exact_sum_init(struct exact_sum *sum, const struct params *params);
void exact_sum_release(struct exact_sum *sum);

/* total += part, rounded; both laid out like params->gradients. Of the entries `first` to `last` -
 * 1 only. `largest` has one number for each entry, which grows to the part's largest magnitude. */
void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total, float *largest);

/* Whether sums of so many parts, none of them larger than `largest`, are exact. What is not finite
 * never is, and counts as if it were: it cannot be helped here. */
bool exact_sum_fits(const struct exact_sum *sum, const float *largest, size_t entries,
                    size_t parts);

/* Choose quanta with which such parts fit, and some that are larger. */
void exact_sum_learn(struct exact_sum *sum, const float *largest, size_t entries, size_t parts);

#endif

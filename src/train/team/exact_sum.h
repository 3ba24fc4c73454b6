/* Sums of gradients with the same bits in any order and grouping, so that a batch gives the same
 * step on one worker and on many. Each part of the batch is rounded to multiples of a quantum, one
 * per parameter, which is chosen such that all sums are exact in float32. The quantum follows from
 * the largest gradient of any part in the previous step, which all workers know. The rounding error
 * lies near the sixteenth bit of that gradient.
 *
 * Parts that are too large for the quantum are added like plain floats. exact_sum_fits() reports
 * that afterwards; a caller that needs the same bits chooses new quanta and adds all parts again.
 */
#ifndef TRAINYARD_TRAIN_TEAM_EXACT_SUM_H
#define TRAINYARD_TRAIN_TEAM_EXACT_SUM_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"

#include <stdbool.h>

struct exact_sum {
    float *quantum; /* one per entry of the parameters, a power of 2; 0: not known yet */
};

void exact_sum_init(struct exact_sum *sum, const struct params *params);
void exact_sum_release(struct exact_sum *sum);

/* total += part, rounded, for the entries `first` to `last` - 1. Both are laid out like
 * params->gradients. largest[] has one number per entry, which is raised to the largest magnitude
 * in the part. */
void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total, float *largest);

/* Whether the sum of `parts` parts, none of them larger than `largest`, is exact. Values that are
 * not finite count as exact, since no quantum helps them. */
bool exact_sum_fits(const struct exact_sum *sum, const float *largest, size_t entries,
                    size_t parts);

/* Chooses quanta for which such parts, and somewhat larger ones, fit. */
void exact_sum_learn(struct exact_sum *sum, const float *largest, size_t entries, size_t parts);

#endif

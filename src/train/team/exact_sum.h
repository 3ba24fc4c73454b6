/* Sums gradients with the same bits in any order and grouping, so that a step has the same result
 * with one worker and with many. The gradients of each part of the batch are rounded to multiples
 * of a quantum. Each parameter has its own quantum, which is chosen such that all sums are exact in
 * float32. The quantum is computed from the largest gradient of any part of any worker in the
 * previous step, so it is equal on all workers. It grows with the number of parts: with 16 parts it
 * is about 2^-16 of that gradient. Only team/ uses these functions.
 *
 * If parts are too large for the quantum, their sum is not exact. exact_sum_fits() detects this
 * afterwards. Then the caller chooses new quanta with exact_sum_learn() and adds all parts
 * again. */
#ifndef TRAINYARD_TRAIN_TEAM_EXACT_SUM_H
#define TRAINYARD_TRAIN_TEAM_EXACT_SUM_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"

#include <stdbool.h>

struct exact_sum {
    /* One per entry of the parameters: a power of 2, or 0 if exact_sum_learn() has not chosen it
     * yet. With 0 nothing is rounded. */
    float *quantum;
};

/* Sets all quanta to 0. */
void exact_sum_init(struct exact_sum *sum, const struct params *params);
void exact_sum_release(struct exact_sum *sum);

/* Adds `part`, rounded, to `total` for the entries `first` to `last` - 1. `part` and `total` have
 * the layout of params->gradients. Raises largest[i] to the largest magnitude of entry i in the
 * part. */
void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total, float *largest);

/* Returns whether the sum of `parts` parts with magnitudes up to `largest` is exact. `largest` has
 * one value per entry. Values that are not finite count as exact, because no quantum can help. */
bool exact_sum_fits(const struct exact_sum *sum, const float *largest, size_t entries,
                    size_t parts);

/* Chooses quanta for which the sum of `parts` parts with magnitudes up to 16 times `largest` is
 * exact. Keeps the quantum of an entry whose `largest` is 0 or not finite. */
void exact_sum_learn(struct exact_sum *sum, const float *largest, size_t entries, size_t parts);

#endif

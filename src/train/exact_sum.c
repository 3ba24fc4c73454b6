/* Sums that do not depend on the order; see exact_sum.h. */
#include "train/exact_sum.h"

#include "base/mem.h"

#include <math.h>

enum {
    MANTISSA = 24,   /* bits of a float32: sums below 2^24 quanta are exact */
    HEADROOM = 6,    /* bits left free for growth and for partial sums larger than the whole */
    FIRST_LIMIT = 3, /* bits: before anything is known, sums below 2^3 are exact */
    SMALLEST = -100, /* exponent of a quantum: keeps away from denormal numbers */
};

void exact_sum_init(struct exact_sum *sum, const struct params *params)
{
    sum->quantum = mem_calloc(params->count + 1, sizeof(*sum->quantum));
    for (size_t i = 0; i < params->count; i++)
        sum->quantum[i] = ldexpf(1, FIRST_LIMIT - MANTISSA);
}

void exact_sum_release(struct exact_sum *sum)
{
    free(sum->quantum);
    sum->quantum = NULL;
}

void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total)
{
    const struct kernels *kernels = kernels_best();
    for (size_t i = first; i < last; i++) {
        const struct param *entry = &params->entries[i];
        kernels->add_rounded(part + entry->offset, sum->quantum[i], entry->count,
                             total + entry->offset);
    }
}

void exact_sum_learn(struct exact_sum *sum, const struct params *params, const float *total)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct param *entry = &params->entries[i];
        float largest = kernels_best()->largest(total + entry->offset, entry->count);
        if (largest == 0 || !isfinite(largest))
            continue; /* nothing learned: the quantum stays */
        int exponent;
        (void)frexpf(largest, &exponent);
        exponent += HEADROOM - MANTISSA;
        sum->quantum[i] = ldexpf(1, exponent < SMALLEST ? SMALLEST : exponent);
    }
}

/* Implements sums that do not depend on the order of their terms; see exact_sum.h. */
#include "train/team/exact_sum.h"

#include "base/mem.h"

#include <math.h>

enum {
    MANTISSA = 24,   /* bits of a float32, so sums up to 2^24 quanta are exact */
    ROUNDING = 2,    /* a part must be below 2^(24 - 2) quanta to be rounded correctly */
    HEADROOM = 4,    /* spare bits for larger parts in the next step */
    SMALLEST = -100, /* smallest exponent of a quantum, to avoid denormal numbers */
};

void exact_sum_init(struct exact_sum *sum, const struct params *params)
{
    sum->quantum = mem_calloc(params->count + 1, sizeof(*sum->quantum));
}

void exact_sum_release(struct exact_sum *sum)
{
    free(sum->quantum);
    sum->quantum = NULL;
}

void exact_sum_add(const struct exact_sum *sum, const struct params *params, size_t first,
                   size_t last, const float *part, float *total, float *largest)
{
    const struct kernels *kernels = kernels_best();
    for (size_t i = first; i < last; i++) {
        const struct param *entry = &params->entries[i];
        float found = kernels->add_rounded(part + entry->offset, sum->quantum[i], entry->count,
                                           total + entry->offset);
        largest[i] = found > largest[i] ? found : largest[i];
    }
}

/* Returns the exponent of the smallest quantum for which the sum of `parts` parts is exact. */
static int least_exponent(float largest, size_t parts)
{
    int exponent, room = 0;
    (void)frexpf(largest, &exponent); /* every part is below 2^exponent */
    while (room < MANTISSA && (size_t)1 << room < parts)
        room++;
    return exponent + (room < ROUNDING ? ROUNDING : room) - MANTISSA;
}

static bool is_finite_nonzero(float largest)
{
    return largest != 0 && isfinite(largest);
}

bool exact_sum_fits(const struct exact_sum *sum, const float *largest, size_t entries, size_t parts)
{
    for (size_t i = 0; i < entries; i++)
        if (is_finite_nonzero(largest[i]) &&
            sum->quantum[i] < ldexpf(1, least_exponent(largest[i], parts)))
            return false;
    return true;
}

void exact_sum_learn(struct exact_sum *sum, const float *largest, size_t entries, size_t parts)
{
    for (size_t i = 0; i < entries; i++) {
        if (!is_finite_nonzero(largest[i]))
            continue; /* keep the quantum */
        int exponent = least_exponent(largest[i], parts) + HEADROOM;
        sum->quantum[i] = ldexpf(1, exponent < SMALLEST ? SMALLEST : exponent);
    }
}

/* Random tensors for tests, the same in each run, and the difference of two of them. */
#ifndef TRAINYARD_TESTS_UNIT_TRAIN_RANDOM_FLOATS_H
#define TRAINYARD_TESTS_UNIT_TRAIN_RANDOM_FLOATS_H

#include "base/mem.h"
#include "base/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline float *random_floats(struct rand *rand, size_t count)
{
    float *data = mem_calloc(count ? count : 1, sizeof(*data));
    for (size_t i = 0; i < count; i++)
        data[i] = (float)rand_normal(rand);
    return data;
}

static inline float *zero_floats(size_t count)
{
    return mem_calloc(count ? count : 1, sizeof(float));
}

/* Returns the largest difference, relative to the largest value. */
static inline double apart(const float *a, const float *b, size_t count)
{
    double worst = 0, largest = 1e-6;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return INFINITY;
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fmax(fabs((double)a[i]), fabs((double)b[i])));
    }
    return worst / largest;
}

#endif

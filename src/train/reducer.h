/* What training needs of the other workers, and nothing more: three collectives as a table of
 * functions. A single process has one that does nothing; several workers have one made of their
 * links (comm). All workers call the same functions in the same order. */
#ifndef TRAINYARD_TRAIN_REDUCER_H
#define TRAINYARD_TRAIN_REDUCER_H

#include "base/err.h"

#include <stddef.h>

struct reducer {
    int rank, size;
    /* Sum in place; bit-identical on every rank. */
    int (*allreduce)(struct reducer *reducer, float *data, size_t count, struct err *err);
    /* `own` (count floats) of every rank, in order of rank, into `all` (size · count floats). */
    int (*allgather)(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err);
    /* The bytes of rank 0 everywhere. */
    int (*broadcast)(struct reducer *reducer, void *data, size_t size, struct err *err);
};

/* One worker alone. */
struct reducer reducer_single(void);

#endif

/* What training needs of the other workers, and nothing more: two collectives, and a way to find
 * together again, as a table of functions. A single process has one that does nothing; several
 * workers have one made of their links (comm). All workers call the same functions in the same
 * order. */
#ifndef TRAINYARD_TRAIN_REDUCER_H
#define TRAINYARD_TRAIN_REDUCER_H

#include "base/err.h"

#include <stddef.h>

struct shared_memory;

struct reducer {
    int rank, size;
    /* Sum in place; bit-identical on every rank. */
    int (*allreduce)(struct reducer *reducer, float *data, size_t count, struct err *err);
    /* `own` (count floats) of every rank, in order of rank, into `all` (size · count floats). */
    int (*allgather)(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err);
    /* Sums of data in this memory, which outlives the reducer's use, may be made in place; its
     * contents are lost, now and at each forming anew. All workers call it, before the first sum.
     * NULL: nothing is gained by it. */
    int (*share)(struct reducer *reducer, struct shared_memory *memory, struct err *err);
    /* After ERR_UNAVAILABLE: wait until all workers are there again, those that were lost having
     * been started anew. NULL: this cannot be done. */
    int (*reform)(struct reducer *reducer, struct err *err);
};

/* One worker alone. */
struct reducer reducer_single(void);

#endif

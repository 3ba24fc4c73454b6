/* What training needs of the other workers, and nothing more: two collectives, and a way to find
 * together again, as a table of functions. A single process has one that does nothing; several
 * workers have one made of their links (comm). All workers call the same functions in the same
 * order. */
#ifndef TRAINYARD_TRAIN_REDUCER_H
#define TRAINYARD_TRAIN_REDUCER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory;

struct reducer {
    int rank, size; /* others after every forming, maybe */
    bool elastic;   /* those that are left go on, and others may come */
    bool far;       /* not all on one machine: sums take time in which others can be made */
    bool rounds;    /* a large sum is rounded on the way */
    uint64_t run;   /* the same for all workers, also those to come, and no others; 0: alone */
    /* Sum in place; bit-identical on every rank. */
    int (*allreduce)(struct reducer *reducer, float *data, size_t count, struct err *err);
    /* The same in the background, in the order of the calls; finish() waits for all that was begun,
     * and tells the first error. In between nothing else of the reducer is called. Where it is not
     * `far` both may be NULL. */
    int (*begin)(struct reducer *reducer, float *data, size_t count, struct err *err);
    int (*finish)(struct reducer *reducer, struct err *err);
    /* `own` (count floats) of every rank, in order of rank, into `all` (size · count floats). */
    int (*allgather)(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err);
    /* What `root` has comes to be in all, to the last bit. */
    int (*broadcast)(struct reducer *reducer, int root, float *data, size_t count, struct err *err);
    /* Sums of data in this memory, which outlives the reducer's use, may be made in place; its
     * contents are lost, now and at each forming anew. All workers call it, before the first sum.
     * NULL: nothing is gained by it. */
    int (*share)(struct reducer *reducer, struct shared_memory *memory, struct err *err);
    /* After ERR_UNAVAILABLE or ERR_TIMEOUT, or when all know that somebody waits to be let in: find
     * together anew. Where the reducer is elastic that is with those that are there, else it is
     * waited for until all are, those that were lost having been started again. NULL: this cannot
     * be done. */
    int (*reform)(struct reducer *reducer, struct err *err);
    /* After every forming, once this worker has the state of the run: it can go on with it. NULL:
     * nobody asks. */
    void (*settle)(struct reducer *reducer);
    /* Whether somebody waits to be let in, as far as this worker knows; cheap. NULL: nobody can. */
    bool (*join_requested)(struct reducer *reducer);
    /* This rank has said that it ends: the next forming does not wait for it. NULL as `name`. */
    void (*dismiss)(struct reducer *reducer, int rank);
    /* "worker 1 (host:port)". NULL: nobody can leave without the others. */
    void (*name)(struct reducer *reducer, int rank, char *text, size_t size);
    /* "2 of 3 workers, without worker 1 (host:port)". NULL: there is nothing to say. */
    void (*describe)(struct reducer *reducer, char *text, size_t size);
};

/* One worker alone. */
struct reducer reducer_single(void);

/* What is summed with the gradients, so that all workers know of it at the same step. */
static inline float reducer_join_requested(struct reducer *reducer)
{
    return reducer->join_requested && reducer->join_requested(reducer) ? 1 : 0;
}

#endif

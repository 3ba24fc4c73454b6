/* Everything that training needs from the other workers, as a table of functions: collectives, and
 * the forming of the group. A single process has a reducer that does nothing; several workers have
 * one on top of comm (reducer_comm.h). All workers call the same functions in the same order. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory;

struct reducer {
    int rank, size; /* may change each time the group forms */
    bool elastic;   /* after a loss the remaining workers go on, and new ones may join */
    /* workers are on several machines: a sum takes time in which the caller can compute */
    bool far;
    bool rounds; /* a large sum is rounded on the wire (bf16) */
    /* identifies the run to all its workers, present and future; 0: a single process */
    uint64_t run;
    /* Sums in place. Every rank gets the same bits. */
    int (*allreduce)(struct reducer *reducer, float *data, size_t count, struct err *err);
    /* begin() starts such a sum in the background; sums run in the order of the calls. finish()
     * waits for all of them and returns the first error. No other function of the reducer may be
     * called in between. Both may be NULL if the reducer is not `far`. */
    int (*begin)(struct reducer *reducer, float *data, size_t count, struct err *err);
    int (*finish)(struct reducer *reducer, struct err *err);
    /* Collects `own` (count floats) of every rank, in order of rank, in `all` (size · count). */
    int (*allgather)(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err);
    /* Copies the data of `root` to all ranks, bit by bit. */
    int (*broadcast)(struct reducer *reducer, int root, float *data, size_t count, struct err *err);
    /* Lets sums of data in this memory be made in place. The memory must outlive the reducer's use;
     * its contents are lost now and each time the group forms. All workers call it before the first
     * sum. NULL: the reducer has no use for it. */
    int (*share)(struct reducer *reducer, struct shared_memory *memory, struct err *err);
    /* Forms the group again: after -ERR_UNAVAILABLE or -ERR_TIMEOUT, or when all workers know of a
     * join request. An elastic reducer forms with the workers that are present. Any other waits
     * until lost workers have been restarted and all are present. NULL: the group cannot form
     * again. */
    int (*reform)(struct reducer *reducer, struct err *err);
    /* Called each time the group has formed, once this worker has the state of the run. May be
     * NULL.
     */
    void (*settle)(struct reducer *reducer);
    /* Whether this worker knows of a new worker that waits to join. Cheap. NULL: none can join. */
    bool (*join_requested)(struct reducer *reducer);
    /* This rank leaves: the next forming does not wait for it. NULL if `name` is. */
    void (*dismiss)(struct reducer *reducer, int rank);
    /* Writes "worker 1 (host:port)". NULL: no worker can leave without the others. */
    void (*name)(struct reducer *reducer, int rank, char *text, size_t size);
    /* Writes "2 of 3 workers, without worker 1 (host:port)". May be NULL. */
    void (*describe)(struct reducer *reducer, char *text, size_t size);
};

/* The reducer of a single process. */
struct reducer reducer_single(void);

/* 1 if a new worker waits to join, else 0: summed with the gradients, so that all workers know of
 * it at the same step. */
static inline float reducer_join_requested(struct reducer *reducer)
{
    return reducer->join_requested && reducer->join_requested(reducer) ? 1 : 0;
}

#endif

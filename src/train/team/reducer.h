/* The connection of one worker to the other workers, as a table of functions. The functions form
 * the group of workers and run collectives, which are operations of all workers together, such as a
 * sum. With several workers the functions use comm (reducer_comm.h). In a single process they need
 * no communication. Teams, trainers and the loop of fit_loop.h call them. All workers must call the
 * collectives, share() and reform() in the same order. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory;

struct reducer {
    int rank; /* number of this worker in the group, from 0; may change each time the group forms */
    int size; /* number of workers in the group; may change each time the group forms */
    bool elastic; /* after the loss of a worker the others continue; new workers may join */
    /* not all workers share memory: sums are slow, so the caller should compute during a sum */
    bool far;
    bool rounds; /* large sums are rounded to bf16 for sending */
    /* identifies the run: the same number on all its workers, including workers that join later; 0:
     * a single process */
    uint64_t run;
    /* Sums `count` floats over all ranks, in place. Every rank gets the same bits. Like the other
     * functions below that return an int, returns 0 or a negative error code. -ERR_UNAVAILABLE and
     * -ERR_TIMEOUT mean that a worker was lost or does not answer. */
    int (*allreduce)(struct reducer *reducer, float *data, size_t count, struct err *err);
    /* begin() starts a sum like allreduce() in the background and returns at once. The sums run in
     * the order of the calls. finish() waits for all sums and returns the first error. Between
     * begin() and finish() no other function of the reducer may be called. Both may be NULL if the
     * reducer is not `far`. */
    int (*begin)(struct reducer *reducer, float *data, size_t count, struct err *err);
    int (*finish)(struct reducer *reducer, struct err *err);
    /* Collects `count` floats of every rank in `all`, in the order of the ranks. `all` has size ×
     * count floats. */
    int (*allgather)(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err);
    /* Copies the data of rank `root` to all ranks, without changing a bit. */
    int (*broadcast)(struct reducer *reducer, int root, float *data, size_t count, struct err *err);
    /* Gives the reducer the memory of the gradients, in which it can sum without copying. The
     * memory must outlive the reducer. Its contents are lost in this call and each time the group
     * forms. All workers call share() before the first sum. May be NULL. */
    int (*share)(struct reducer *reducer, struct shared_memory *memory, struct err *err);
    /* Forms the group again. Called after -ERR_UNAVAILABLE or -ERR_TIMEOUT, after dismiss(), or
     * when all workers know of a join request. Blocks until the group has formed. An elastic group
     * forms with the workers that are present. Any other group waits until lost workers have been
     * restarted and all workers are present. NULL: the group cannot form again. */
    int (*reform)(struct reducer *reducer, struct err *err);
    /* Declares that this worker has the state of the run. Called each time the group has formed and
     * all workers have the same state. May be NULL. */
    void (*settle)(struct reducer *reducer);
    /* Returns whether this worker knows of a new worker that waits to join. Called at every step.
     * NULL: no worker can join. */
    bool (*join_requested)(struct reducer *reducer);
    /* Records that worker `rank` leaves, so that the next reform() does not wait for it. NULL if
     * `name` is NULL. */
    void (*dismiss)(struct reducer *reducer, int rank);
    /* Writes the name of worker `rank`: "worker 1 (host:port)". NULL: no worker can leave without
     * the others. */
    void (*name)(struct reducer *reducer, int rank, char *text, size_t size);
    /* Writes a description of the group: "2 of 3 workers, without worker 1 (host:port)". May be
     * NULL. */
    void (*describe)(struct reducer *reducer, char *text, size_t size);
};

/* Returns the reducer of a single process. It needs no release. */
struct reducer reducer_single(void);

/* Returns 1 if a new worker waits to join, else 0. The number is summed with the gradients, so that
 * all workers know of the request in the same step. */
static inline float reducer_join_requested(struct reducer *reducer)
{
    return reducer->join_requested && reducer->join_requested(reducer) ? 1 : 0;
}

#endif

/* The reducer of several workers: the collectives of a group of processes (comm), and the forming
 * of that group, at the start, after a loss and when others come. */
#ifndef TRAINYARD_TRAIN_REDUCER_COMM_H
#define TRAINYARD_TRAIN_REDUCER_COMM_H

#include "comm/group/group.h"
#include "train/team/reducer.h"
#include "train/team/reducer_queue.h"

#include <signal.h>

struct reducer_comm {
    struct reducer reducer;
    struct comm_options options;
    volatile sig_atomic_t *joining;
    struct shared_memory *memory; /* what workers of one machine sum in; NULL before it is told */
    struct reducer_queue *queue;  /* NULL before a sum was begun in the background */
    struct comm_group *group;
};

/* Returns when all workers are there. What the options point to must outlive it. `joining` is 1
 * while others are waited for the first time, which a signal handler may want to know, for nothing
 * has been done yet; it may be NULL. */
int reducer_comm_open(struct reducer_comm *reducer, const struct comm_options *options,
                      volatile sig_atomic_t *joining, struct err *err);
void reducer_comm_close(struct reducer_comm *reducer); /* safe on zeroed memory */

#endif

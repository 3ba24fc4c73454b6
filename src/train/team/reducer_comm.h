/* The reducer of several workers. It uses the collectives of a group of processes (comm). It forms
 * that group at the start, after the loss of a worker, and when workers join or leave. `trainer
 * fit` opens it. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_COMM_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_COMM_H

#include "comm/group/group.h"
#include "train/team/reducer.h"
#include "train/team/reducer_queue.h"

#include <signal.h>

struct reducer_comm {
    struct reducer reducer;
    struct comm_options options;
    volatile sig_atomic_t *joining; /* see reducer_comm_open(); may be NULL */
    /* memory in which workers on one machine sum; NULL before share() */
    struct shared_memory *memory;
    struct reducer_queue *queue; /* NULL before the first background sum */
    struct comm_group *group;
};

/* Sets `reducer` and forms the group: waits until all workers have joined, or as many as the
 * options require. Everything that the options point to must outlive the reducer. `joining` may be
 * NULL. Otherwise *joining is 1 during this wait, so that a signal handler knows that there is
 * nothing to save yet. Returns 0, or the error of comm_group_open(). */
int reducer_comm_open(struct reducer_comm *reducer, const struct comm_options *options,
                      volatile sig_atomic_t *joining, struct err *err);
/* Leaves the group and frees everything. Safe on zeroed memory. */
void reducer_comm_close(struct reducer_comm *reducer);

#endif

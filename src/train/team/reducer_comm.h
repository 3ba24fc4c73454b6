/* The reducer of several workers: the collectives of a group of processes (comm), and the forming
 * of that group at the start, after a loss, and when workers join. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_COMM_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_COMM_H

#include "comm/group/group.h"
#include "train/team/reducer.h"
#include "train/team/reducer_queue.h"

#include <signal.h>

struct reducer_comm {
    struct reducer reducer;
    struct comm_options options;
    volatile sig_atomic_t *joining;
    /* memory in which workers of one machine sum; NULL before share() */
    struct shared_memory *memory;
    struct reducer_queue *queue; /* NULL before the first background sum */
    struct comm_group *group;
};

/* Waits until all workers have joined. Everything that the options point to must outlive the
 * reducer. `joining` may be NULL; else it is 1 during the first wait, so that a signal handler can
 * tell that there is nothing to save yet. */
int reducer_comm_open(struct reducer_comm *reducer, const struct comm_options *options,
                      volatile sig_atomic_t *joining, struct err *err);
void reducer_comm_close(struct reducer_comm *reducer); /* safe on zeroed memory */

#endif

/* The reducer of several workers: the collectives of a group of processes (comm). */
#ifndef TRAINYARD_TRAIN_REDUCER_COMM_H
#define TRAINYARD_TRAIN_REDUCER_COMM_H

#include "comm/group.h"
#include "train/reducer.h"

struct reducer_comm {
    struct reducer reducer;
    struct comm_group *group;
};

/* `group` must outlive it. */
void reducer_comm_init(struct reducer_comm *reducer, struct comm_group *group);

#endif

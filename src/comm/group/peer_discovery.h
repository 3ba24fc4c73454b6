/* Discovery: tasks connect to all tasks that they can reach and agree on the members of the next
 * group. Drives the agreement of membership.h: sends and receives the messages of the agreement,
 * and sets the presence of every task. Called by formation before the members connect to each
 * other. Never waits for a task that is known to be gone. */
#ifndef TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H
#define TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H

#include "comm/group/rendezvous.h"
#include "comm/transport/control.h"

struct peer_discovery_options {
    /* Covers all tasks of the cluster; `rank` is this task. `listener` is open and its identity is
     * set. */
    struct rendezvous_options rendezvous;
    int min, start; /* see membership.h */
    /* All tasks are needed for this long; afterwards `start` tasks are enough. */
    int64_t start_after_ms;
    int64_t peer_timeout_ms;
    uint64_t live, highest;            /* see membership.h */
    const bool *previous_members;      /* by task; see membership.h; NULL: no members */
    bool *accepted_members;            /* by task; see membership.h */
    const enum peer_outcome *outcomes; /* by task, for members of the previous group */
    int64_t ended_ms; /* when `outcomes` was recorded (monotonic); 0: `outcomes` is empty */
    bool *expelled;   /* in and out: the others may have continued without this task */
    uint64_t machine, *machines;
};

/* Returns when the tasks have agreed. ret_list has one element per task: whether the task is a
 * member of *ret_generation. Fails after the timeout of the rendezvous options, or with
 * ERR_CANCELED when their `stop` is set. */
int peer_discovery_agree(const struct peer_discovery_options *options, uint64_t *ret_generation,
                         bool *ret_list, struct err *err);

#endif

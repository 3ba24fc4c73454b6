/* Discovery: tasks connect to all tasks that they can reach and agree on the members of the next
 * group. This drives the agreement of membership.h: it sends and receives its messages, and tells
 * it of every task whether it is present, gone or silent. Called by formation before the members
 * connect to each other. Never waits for a task that is known to be gone. */
#ifndef TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H
#define TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H

#include "comm/group/rendezvous.h"
#include "comm/transport/control.h"

struct peer_discovery_options {
    /* All tasks of the cluster. Its listener is open and has its identity; `rank` is this task. */
    struct rendezvous_options rendezvous;
    int min, start; /* see membership.h */
    /* For this long all tasks are needed; afterwards `start` tasks are enough. */
    int64_t start_after_ms;
    int64_t peer_timeout_ms;
    uint64_t live, highest;            /* see membership.h */
    const bool *previous_members;      /* by task, the members of generation `live`; NULL: none */
    bool *accepted_members;            /* by task; see membership.h */
    const enum peer_outcome *outcomes; /* by task, what became of the previous members */
    int64_t ended_ms; /* when `outcomes` was recorded (monotonic); 0: it is empty */
    bool *expelled;   /* in and out: the others may have continued without this task */
    uint64_t machine, *machines;
};

/* Returns when the tasks have agreed: the generation and, by task, whether it is a member. Fails
 * after the timeout of the rendezvous options, or with ERR_CANCELED when told to stop. */
int peer_discovery_agree(const struct peer_discovery_options *options, uint64_t *ret_generation,
                         bool *ret_list, struct err *err);

#endif

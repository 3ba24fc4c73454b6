/* Discovery: the tasks of an elastic group connect to all tasks that they can reach and agree on
 * the members of the next group. Runs the agreement of membership.h: sends and receives its
 * messages, and reports the presence of every task to it. Called by formation before the members
 * connect to each other. Does not wait for a task whose process is gone, if enough other tasks are
 * present (see `min`, `start` and `start_after_ms`). */
#ifndef TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H
#define TRAINYARD_COMM_GROUP_PEER_DISCOVERY_H

#include "comm/group/rendezvous.h"
#include "comm/transport/control.h"

struct peer_discovery_options {
    /* The options for all tasks of the cluster. `rendezvous.rank` is this task.
     * `rendezvous.listener` is open and its identity is set. */
    struct rendezvous_options rendezvous;
    int min, start; /* see membership.h */
    /* If no present task has training state, all tasks are needed for this long, counted from the
     * start of this discovery; afterwards `start` tasks are enough. If a task has training state,
     * `min` tasks are enough at any time. */
    int64_t start_after_ms;
    int64_t peer_timeout_ms;      /* a task that sends no message for this long counts as silent */
    uint64_t live, highest;       /* see membership.h */
    const bool *previous_members; /* by task; see membership.h; NULL: no members */
    bool *accepted_members;       /* by task; see membership.h */
    /* by task: the outcome of each member of the previous group */
    const enum peer_outcome *outcomes;
    int64_t ended_ms; /* when `outcomes` was recorded (monotonic, ms); 0: `outcomes` is empty */
    /* In and out: the other tasks continued without this task, or may have done so. */
    bool *expelled;
    uint64_t machine, *machines; /* see membership.h */
};

/* Blocks until the tasks have agreed. ret_list has one element per task: whether the task is a
 * member of *ret_generation. Fails with ERR_TIMEOUT after rendezvous.timeout_ms, with ERR_CANCELED
 * when *rendezvous.stop is set, and with ERR_FORBIDDEN if this task has no training state and meets
 * an incompatible task. Updates *expelled, accepted_members and machines also on failure. */
int peer_discovery_agree(const struct peer_discovery_options *options, uint64_t *ret_generation,
                         bool *ret_list, struct err *err);

#endif

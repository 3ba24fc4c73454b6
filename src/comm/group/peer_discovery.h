/* Where tasks meet before they are a group, and agree who belongs to it: connections with all that
 * can be reached, and the messages of the agreement (membership.h) over them. It says of every task
 * whether it is there, gone or silent. Called by assembly before links are made; never waits for a
 * task that is known to be gone. */
#ifndef TRAINYARD_COMM_LOBBY_H
#define TRAINYARD_COMM_LOBBY_H

#include "comm/group/rendezvous.h"
#include "comm/transport/control.h"

struct lobby_options {
    /* The whole cluster, with a door whose identity is set; `rank` is this task. */
    struct rendezvous_options meeting;
    int min, start;         /* see membership.h */
    int64_t start_after_ms; /* until then all tasks are waited for; then `start` are enough */
    int64_t peer_timeout_ms;
    uint64_t live, highest;            /* see membership.h */
    const bool *mates;                 /* by task, of generation `live`; NULL: none */
    bool *pledged;                     /* by task, see membership.h */
    const enum control_outcome *fates; /* by task, of the mates */
    int64_t parted_ms;                 /* when they were true; 0: there are none */
    bool *expelled; /* others go on without this task: who does not answer may be at work */
    uint64_t machine, *machines;
};

/* The generation and, by task, who is in it. */
int lobby_agree(const struct lobby_options *options, uint64_t *ret_generation, bool *ret_list,
                struct err *err);

#endif

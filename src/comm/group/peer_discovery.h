/* Where tasks meet before they are a group, and agree who belongs to it: connections with all that
 * can be reached, and the messages of the agreement (membership.h) over them. It says of every task
 * whether it is there, gone or silent. Called by assembly before links are made; never waits for a
 * task that is known to be gone. */
#ifndef TRAINYARD_COMM_PEER_DISCOVERY_H
#define TRAINYARD_COMM_PEER_DISCOVERY_H

#include "comm/group/rendezvous.h"
#include "comm/transport/control.h"

struct peer_discovery_options {
    /* The whole cluster, with a door whose identity is set; `rank` is this task. */
    struct rendezvous_options rendezvous;
    int min, start;         /* see membership.h */
    int64_t start_after_ms; /* until then all tasks are waited for; then `start` are enough */
    int64_t peer_timeout_ms;
    uint64_t live, highest;            /* see membership.h */
    const bool *previous_members;      /* by task, of generation `live`; NULL: none */
    bool *accepted_members;            /* by task, see membership.h */
    const enum peer_outcome *outcomes; /* by task, of the mates */
    int64_t parted_ms;                 /* when they were true; 0: there are none */
    bool *expelled; /* others go on without this task: who does not answer may be at work */
    uint64_t machine, *machines;
};

/* The generation and, by task, who is in it. */
int peer_discovery_agree(const struct peer_discovery_options *options, uint64_t *ret_generation,
                         bool *ret_list, struct err *err);

#endif

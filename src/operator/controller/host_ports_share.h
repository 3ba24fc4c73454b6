/* A controller's share in the table of ports of the nodes: it tells what its jobs hold, and hears
 * when all have told. Only the controller calls it, on its loop. */
#ifndef TRAINYARD_OPERATOR_HOST_PORTS_SHARE_H
#define TRAINYARD_OPERATOR_HOST_PORTS_SHARE_H

#include "kube/client/informer.h"
#include "loop/loop.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"

struct host_ports_share {
    struct host_ports *ports, *own; /* own: where nobody shares with us; else NULL */
    const struct training_kind *kind;
    struct kube_informer *jobs;
    bool reported; /* what our jobs hold */
    int64_t made_ms;
    struct loop_timer timer;
};

/* `ports` NULL: a table of its own. */
void host_ports_share_init(struct host_ports_share *share, struct loop *loop,
                           const struct training_kind *kind, struct host_ports *ports);
void host_ports_share_release(struct host_ports_share *share);

/* All is told when these have been listed and seen. */
void host_ports_share_start(struct host_ports_share *share, struct kube_informer *jobs);

/* The informer shows the job, or that it is gone. */
void host_ports_share_observe(struct host_ports_share *share, const struct kube_object *job,
                              bool gone);
/* Its reconcile has decided. */
void host_ports_share_set(struct host_ports_share *share, const struct kube_object *job,
                          const int *held, size_t count);

/* The table to give ports out of; NULL: not all that is held is known yet. */
const struct host_ports *host_ports_share_table(struct host_ports_share *share);

#endif

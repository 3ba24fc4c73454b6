/* Connects a controller to the table of host ports: reports the ports of its jobs, and waits for
 * the reports of the other controllers. Must be used on the loop thread of the controller. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_HOST_PORTS_SHARE_H
#define TRAINYARD_OPERATOR_CONTROLLER_HOST_PORTS_SHARE_H

#include "kube/client/informer.h"
#include "loop/loop.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"

struct host_ports_share {
    struct host_ports *ports;     /* the table */
    struct host_ports *own_table; /* equal to `ports` if the share created the table, or NULL */
    const struct training_kind *kind;
    struct kube_informer *jobs;
    bool reported;      /* the ports of this controller's jobs were reported */
    int64_t created_ms; /* the loop's clock when the share was created */
    struct loop_timer timer;
};

/* Registers the controller at the table. `ports` NULL: creates a table for this controller alone.
 */
void host_ports_share_init(struct host_ports_share *share, struct loop *loop,
                           const struct training_kind *kind, struct host_ports *ports);
/* Removes the ports of all jobs of the kind from the table. Other controllers do not wait for the
 * report any more. */
void host_ports_share_release(struct host_ports_share *share);

/* Starts to wait until these jobs have been listed. When they have been listed, reports to the
 * table that it contains all their ports. */
void host_ports_share_start(struct host_ports_share *share, struct kube_informer *jobs);

/* Must be called when the informer shows a new or changed job, and with `gone` when the job is
 * deleted. */
void host_ports_share_observe(struct host_ports_share *share, const struct kube_object *job,
                              bool gone);
/* Must be called after the reconcile has decided which ports the job holds. */
void host_ports_share_set(struct host_ports_share *share, const struct kube_object *job,
                          const int *held, size_t count);

/* Returns the table from which ports are assigned. Returns NULL until all controllers have
 * reported, but for at most 10 s after the share was created. */
const struct host_ports *host_ports_share_table(struct host_ports_share *share);

#endif

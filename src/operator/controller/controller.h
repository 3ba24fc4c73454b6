/* The controller of one kind of training job: watches the jobs and what belongs to them, asks the
 * reconcile what shall be done, and does it. It speaks to an API server over a transport and knows
 * nothing else, so it runs beside the embedded cluster as well as in a real one. All its state is
 * on the server: it may be freed and made again at any moment. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_H
#define TRAINYARD_OPERATOR_CONTROLLER_H

#include "loop/loop.h"
#include "net/http/http.h"
#include "operator/controller/dialer.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/report_location.h"

#include <stddef.h>

struct prometheus;

struct training_controller_options {
    const char *namespace_; /* the only one to look at; NULL: all */
    /* Where all pods are, of all jobs: they share one machine's network and no names lead to them,
     * so every replica gets a port of its own there; NULL: each has a network of its own. */
    const char *shared_address;
    const char *cluster_domain; /* put behind the host names in TF_CONFIG; NULL: nothing */
    /* Pods of a job start together, by this scheduler: "volcano", or the name of one with the
     * scheduler-plugins; NULL: each for itself. */
    const char *gang_scheduler;
    size_t jobs_max;               /* jobs worked on at a time; 0: 32 */
    size_t calls_max;              /* calls under way for one job; 0: 32 */
    struct host_ports *host_ports; /* for hostNetwork replicas; shared by the controllers of one
                                      process and outlives them; NULL: one of the default range */
    const struct training_dialer *dialer; /* how pods are asked for their progress; copied; NULL:
                                             by TCP to their address */
    const struct training_claims *claims; /* copied; NULL: no data of claims is on this machine */
    struct prometheus *metrics;           /* outlives it; NULL: nothing is counted */
};

struct training_controller;

/* The loop and the transport must outlive it. `options` may be NULL. */
struct training_controller *
training_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct training_kind *kind,
                        const struct training_controller_options *options);
/* At once: what is under way is cancelled. */
struct training_controller *training_controller_free(struct training_controller *controller);

/* How it is getting on. It works when everything it needs to see has been listed once. */
struct training_controller_view {
    const struct kube_resource *waits_for; /* the first that has not; NULL: it works */
    const struct err *failure; /* why not, as the server last said; NULL: it did not yet */
    size_t queued, jobs, pods, services;
};
struct training_controller_view
training_controller_inspect(const struct training_controller *controller);

#endif

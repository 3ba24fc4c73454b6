/* The controller of one kind of training job: it watches the jobs and their objects, calls
 * training_reconcile() and carries out its plan. It needs only an API server behind a transport, so
 * it runs inside the embedded cluster's process and in a real cluster. All its state is on the
 * server, so it may be freed and created again at any moment. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_CONTROLLER_H
#define TRAINYARD_OPERATOR_CONTROLLER_CONTROLLER_H

#include "loop/loop.h"
#include "net/http/http.h"
#include "operator/controller/dialer.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/report_location.h"

#include <stddef.h>

struct prometheus;

struct training_controller_options {
    const char *namespace_; /* the only namespace to watch; NULL: all namespaces */
    /* The address of all pods of all jobs, if they share the network of one machine and have no DNS
     * names. Each replica then gets its own port. NULL: each pod has its own network. */
    const char *shared_address;
    const char *cluster_domain; /* appended to host names in TF_CONFIG; NULL: nothing is appended */
    /* The scheduler that starts all pods of a job together: "volcano", or the name of a scheduler
     * with scheduler-plugins. NULL or "": each pod is scheduled separately. */
    const char *gang_scheduler;
    size_t jobs_max;  /* jobs that are reconciled at the same time; 0 means 32 */
    size_t calls_max; /* API calls in flight per job; 0 means 32 */
    /* The port table for hostNetwork, which all controllers of a process share. It must outlive
     * them. NULL: a table of the default range. */
    struct host_ports *host_ports;
    /* Connects to pods for their progress. The struct is copied; its context must outlive the
     * controller. NULL: TCP to the pod's address. */
    const struct training_dialer *dialer;
    const struct training_claims *claims; /* copied; NULL: claims have no data on this machine */
    struct prometheus *metrics;           /* must outlive the controller; NULL: no metrics */
};

struct training_controller;

/* The loop and the transport must outlive the controller. `options` may be NULL. */
struct training_controller *
training_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct training_kind *kind,
                        const struct training_controller_options *options);
/* Frees the controller at once and cancels all calls. NULL-safe; returns NULL. */
struct training_controller *training_controller_free(struct training_controller *controller);

/* The state of a controller. A controller works after every resource that it needs has been listed
 * once. It does not wait for PodGroups that the server does not have or forbids to read. */
struct training_controller_view {
    /* The first resource that has not been listed yet. NULL: the controller works. */
    const struct kube_resource *waits_for;
    /* The last error of the list of `waits_for`, valid until the loop runs. NULL: no error yet. */
    const struct err *failure;
    size_t queued;               /* jobs that wait for a reconcile */
    size_t jobs, pods, services; /* objects in the cache */
};
struct training_controller_view
training_controller_inspect(const struct training_controller *controller);

#endif

/* The part that the controllers of Jobs, ReplicaSets, Deployments and EndpointSlices share: a queue
 * of keys, the passes in flight (kube/client/pass.h), and the writes that each pass makes. A
 * workload is not reconciled until the informers show its previous writes, so that no decision is
 * based on an old state. This wait ends at the latest 5 s after the last write
 * (kube/client/own_writes.h). struct workload_kind describes a controller. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_WORKLOADS_H
#define TRAINYARD_ENGINE_CONTROLLERS_WORKLOADS_H

#include "base/map.h"
#include "engine/hub/hub.h"
#include "kube/client/pass.h"
#include "kube/client/workqueue.h"

/* A pass over one workload. It is the first member of the controller's own struct. */
struct workload_run {
    struct kube_pass pass;
    struct hub *hub;
    char *key;          /* "namespace/name" */
    int64_t requeue_ms; /* reconcile again after this time; -1: when an object changes */
};

/* A controller that uses this part. */
struct workload_kind {
    const char *storage;                   /* "replicasets.apps" */
    const char *component;                 /* the reporting component of its events */
    const struct kube_pass_stages *stages; /* how a plan is carried out */
    size_t run_size;                       /* size of the controller's run struct */
    /* Decides: fills in the plan in the controller's run struct, and `requeue_ms`. */
    void (*plan)(struct workload_run *run);
};

struct workloads {
    struct hub *hub;
    const struct workload_kind *kind;
    struct workqueue *queue;
    struct map writes;       /* key → struct kube_own_writes */
    struct list_head passes; /* struct kube_pass: passes that have not ended */
};

/* `hub` and `kind` must outlive the workloads. */
void workloads_init(struct workloads *workloads, struct hub *hub, const struct workload_kind *kind);
void workloads_release(struct workloads *workloads);

/* Queues the workload. The controller calls this when the workload or one of its objects has
 * changed. */
void workloads_add(struct workloads *workloads, const char *namespace_, const char *name);
/* Must be called when the informers show the result of a write or a deletion. `write` is the name
 * that the controller gave to workloads_run_wrote(), such as a uid, or a uid and a resourceVersion.
 */
void workloads_saw(struct workloads *workloads, const char *namespace_, const char *name,
                   const char *write);
/* Records a write or a deletion that the informers do not show yet. The next pass over the workload
 * waits until workloads_saw() is called with the same name, or until 5 s after the last recorded
 * write. */
void workloads_run_wrote(struct workload_run *run, const char *write);

#endif

/* The part that all workload controllers share: a queue of keys, the passes in flight, and the
 * controller's own writes. A workload is not reconciled until the informers show these writes, so
 * that no decision is based on an old state. struct workload_kind describes a controller. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_WORKLOADS_H
#define TRAINYARD_ENGINE_CONTROLLERS_WORKLOADS_H

#include "base/map.h"
#include "engine/hub/hub.h"
#include "kube/client/pass.h"
#include "kube/client/workqueue.h"

/* A pass over one workload; the first member of the controller's own struct. */
struct workload_run {
    struct kube_pass pass;
    struct hub *hub;
    char *key;          /* "namespace/name" */
    int64_t requeue_ms; /* reconcile again after this time; -1: when an object changes */
};

struct workload_kind {
    const char *storage;                    /* "replicasets.apps" */
    const char *component;                  /* the reporting component of its events */
    const struct kube_pass_stages *stages;  /* how a plan is carried out */
    size_t run_size;                        /* size of the controller's run struct */
    void (*plan)(struct workload_run *run); /* fills in the plan of the pass */
};

struct workloads {
    struct hub *hub;
    const struct workload_kind *kind;
    struct workqueue *queue;
    struct map writes;       /* key → struct kube_own_writes */
    struct list_head passes; /* struct kube_pass */
};

void workloads_init(struct workloads *workloads, struct hub *hub, const struct workload_kind *kind);
void workloads_release(struct workloads *workloads);

/* Queues the workload, because it or one of its objects has changed. */
void workloads_add(struct workloads *workloads, const char *namespace_, const char *name);
/* Must be called when the informers show the result of a write or a deletion. `write` is the name
 * that the controller gave to workloads_run_wrote(), such as a uid, or a uid and a version. */
void workloads_saw(struct workloads *workloads, const char *namespace_, const char *name,
                   const char *write);
/* Records a write. The workload waits until workloads_saw() is called with the same name. */
void workloads_run_wrote(struct workload_run *run, const char *write);

#endif

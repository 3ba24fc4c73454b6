/* What controllers of one kind of workload share: keys that wait, passes under way, and their own
 * writes that the informers have not shown yet, so that nothing is decided on what was. A
 * controller says what its kind is and how a plan is made and carried out. */
#ifndef TRAINYARD_ENGINE_WORKLOADS_H
#define TRAINYARD_ENGINE_WORKLOADS_H

#include "base/map.h"
#include "engine/hub/hub.h"
#include "kube/client/pass.h"
#include "kube/client/workqueue.h"

/* A pass over one workload; first in what the controller knows of its plan. */
struct workload_run {
    struct kube_pass pass;
    struct hub *hub;
    char *key;          /* "namespace/name" */
    int64_t requeue_ms; /* look again after so long; -1: when something changes */
};

struct workload_kind {
    const char *storage;                    /* "replicasets.apps" */
    const char *component;                  /* who tells its events */
    const struct kube_pass_stages *stages;  /* how a plan is carried out */
    size_t run_size;                        /* of the controller's own struct */
    void (*plan)(struct workload_run *run); /* what shall be done */
};

struct workloads {
    struct hub *hub;
    const struct workload_kind *kind;
    struct workqueue *queue;
    struct map writes; /* key → struct kube_own_writes */
    struct kube_pass *passes;
};

void workloads_init(struct workloads *workloads, struct hub *hub, const struct workload_kind *kind);
void workloads_release(struct workloads *workloads);

/* Something about the workload changed. */
void workloads_add(struct workloads *workloads, const char *namespace_, const char *name);
/* An object of it is as its last write left it, gone included. What a write is called is the
 * controller's: a uid, a uid and a version. */
void workloads_saw(struct workloads *workloads, const char *namespace_, const char *name,
                   const char *write);
void workloads_run_wrote(struct workload_run *run, const char *write); /* waited for from now on */

#endif

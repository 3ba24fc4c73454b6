/* Prepares a pod for its start, for pod/runner_start.c: plans the pod, writes its directory,
 * volumes and spec, and records where its control groups will be. This takes tens of system calls
 * that may wait for the disk, so a thread of the pool does it. The thread reads only copies and
 * immutable versions of API objects. It must not take or drop references to these versions: only
 * the loop thread does that. */
#ifndef TRAINYARD_NODE_PLAN_PREPARATION_H
#define TRAINYARD_NODE_PLAN_PREPARATION_H

#include "node/plan/plan.h"
#include "node/pod/runner.h"

struct plan_preparation;

struct plan_preparation_request {
    struct kube_object *pod;
    const char *directory; /* the pod's directory */
    const char *address, *node_address;
    int64_t started_ms; /* the wall time at which the node accepted the pod */
    struct map *tokens; /* tokens of the service account by audience; moved into the preparation */
    bool is_planned; /* the spec exists already: only the place of the control groups is recorded */
};

struct plan_prepared {
    struct kube_object *pod;     /* the version that was planned */
    bool is_up;                  /* a supervisor of the pod runs already */
    bool is_stale;               /* an object that the plan used was created or changed since */
    struct err err;              /* why the pod cannot start; code 0 on success */
    struct plan_refusal refusal; /* if `err` is set */
    int64_t deadline_ms;         /* the deadline in the new spec; 0 means none, or no new spec */
    struct map tokens;           /* the tokens of the request */
};
/* Called on the loop thread when the preparation has ended. The callee may move `tokens` out of
 * `prepared`; the rest is freed after the call. */
typedef void plan_preparation_done(void *context, struct plan_prepared *prepared);

/* Starts a preparation and returns at once. `done` is called later, unless the preparation is
 * abandoned. The returned pointer is invalid after `done`. */
struct plan_preparation *plan_preparation_start(const struct pod_host *host,
                                                const struct plan_preparation_request *order,
                                                plan_preparation_done *done, void *context);
/* Abandons a preparation. Its thread continues, but `done` is not called, and `host` is not used
 * after this call. `preparation` may be NULL. */
void plan_preparation_abandon(struct plan_preparation *preparation);

#endif

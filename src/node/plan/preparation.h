/* Prepares a pod for its start: plans it, writes its directory, volumes and spec, and records where
 * its control groups will be. That takes tens of system calls that may wait for the disk, so a
 * thread of the pool does it. The thread reads only copies and immutable versions of API objects.
 * Only the loop thread counts references to these versions. */
#ifndef TRAINYARD_NODE_PLAN_PREPARATION_H
#define TRAINYARD_NODE_PLAN_PREPARATION_H

#include "node/plan/plan.h"
#include "node/pod/runner.h"

struct plan_preparation;

struct plan_preparation_order {
    struct kube_object *pod;
    const char *directory; /* the pod's directory */
    const char *address, *node_address;
    int64_t started_ms; /* the wall time at which the node accepted the pod */
    struct map *tokens; /* tokens of the service account by audience; moved into the preparation */
    bool is_planned;    /* the spec exists already, so only the control groups are placed */
};

struct plan_prepared {
    struct kube_object *pod; /* the version that was planned */
    bool is_up;              /* a supervisor of an earlier control process is running */
    bool is_stale;           /* an object that the pod was planned with has a newer version */
    struct err err;          /* why the pod cannot start; code 0 on success */
    struct plan_refusal refusal;
    int64_t deadline_ms; /* the deadline in the spec, if the spec is new */
    struct map tokens;   /* the tokens of the order */
};
/* Called on the loop thread. `prepared` is freed afterwards. */
typedef void plan_preparation_done(void *context, struct plan_prepared *prepared);

struct plan_preparation *plan_preparation_start(const struct pod_host *host,
                                                const struct plan_preparation_order *order,
                                                plan_preparation_done *done, void *context);
/* Abandons a preparation. The work continues, but `done` is not called and `host` is not used any
 * more. `preparation` may be NULL. */
void plan_preparation_abandon(struct plan_preparation *preparation);

#endif

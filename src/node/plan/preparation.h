/* Makes a pod ready to be started: plans it, writes its directory, volumes and spec, and says where
 * its control groups are made. That takes tens of system calls that may wait for the disk, so a
 * thread of the pool does it. The thread reads copies, and versions of API objects, which never
 * change. Only the loop thread counts the references to these versions. */
#ifndef TRAINYARD_NODE_POD_PREPARATION_H
#define TRAINYARD_NODE_POD_PREPARATION_H

#include "node/plan/plan.h"
#include "node/pod/runner.h"

struct plan_preparation;

struct plan_preparation_order {
    struct kube_object *pod;
    const char *directory; /* the pod's */
    const char *address, *node_address;
    int64_t started_ms; /* wall time when the node took the pod */
    struct map *tokens; /* of the service account, by audience; taken over */
    bool is_planned;    /* its spec is written: only its control groups are placed */
};

struct plan_prepared {
    struct kube_object *pod; /* the version that was planned */
    bool is_up;              /* it has a supervisor, which an earlier control process has started */
    bool is_stale;           /* there is a newer version of an object that it was planned with */
    struct err err;          /* why not, or code 0 */
    struct plan_refusal refusal;
    int64_t deadline_ms; /* as in its spec, if that is new */
    struct map tokens;   /* taken back */
};
/* Called on the loop. The result is gone afterwards. */
typedef void plan_preparation_done(void *context, struct plan_prepared *prepared);

struct plan_preparation *plan_preparation_start(const struct pod_host *host,
                                                const struct plan_preparation_order *order,
                                                plan_preparation_done *done, void *context);
/* It goes on unseen: `done` is not called, and `host` not used any more. NULL-safe. */
void plan_preparation_abandon(struct plan_preparation *preparation);

#endif

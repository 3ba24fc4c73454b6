/* Tracks the writes of a controller that its informers have not shown yet, with one struct per
 * workload. A decision on a state without these writes would create pods twice or update an old
 * resourceVersion. The server would reject that, but the work would be wasted. Must be used on the
 * controller's loop thread. */
#ifndef TRAINYARD_KUBE_CLIENT_OWN_WRITES_H
#define TRAINYARD_KUBE_CLIENT_OWN_WRITES_H

#include "base/json/json.h"
#include "base/map.h"

struct kube_own_writes {
    struct map uids;  /* the keys are uids of created objects; the values are unused */
    int64_t version;  /* resourceVersion of the last write of the workload itself */
    int64_t until_ms; /* when the wait ends; a write that was reverted at once may never be shown */
    bool resync_requested; /* the informers were asked to resync since the last write */
};

void kube_own_writes_init(struct kube_own_writes *writes);
void kube_own_writes_release(struct kube_own_writes *writes);
void kube_own_writes_forget(struct kube_own_writes *writes); /* forgets all writes */

/* Record an object that was created, or a write of the workload itself. */
void kube_own_writes_add_created(struct kube_own_writes *writes, const char *uid, int64_t now_ms);
void kube_own_writes_add_updated(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

/* Must be called when an informer shows the object, either existing or already deleted. */
void kube_own_writes_observe(struct kube_own_writes *writes, const char *uid);

/* Returns how long to wait at most until all writes are shown, given the workload as the informer
 * shows it. Returns 0 if they are shown, or if the wait has ended; then it forgets the writes. */
int64_t kube_own_writes_wait_ms(struct kube_own_writes *writes, const struct json *workload,
                                int64_t now_ms);

/* Returns true once if the writes are still not shown 5 s after the last one. Must be called before
 * kube_own_writes_wait_ms(), which forgets such writes. The caller then resyncs the informers,
 * because a watch may have ended unnoticed (docs/design/operator.md). The wait continues for
 * another 5 s. */
bool kube_own_writes_are_overdue(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

#endif

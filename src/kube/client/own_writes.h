/* Tracks the writes of a controller that its informers have not shown yet, with one struct per
 * workload. A controller that decides without these writes would create objects again or update an
 * old resourceVersion. The server would reject these calls, but the work would be wasted. Must be
 * used on the controller's loop thread. */
#ifndef TRAINYARD_KUBE_CLIENT_OWN_WRITES_H
#define TRAINYARD_KUBE_CLIENT_OWN_WRITES_H

#include "base/json/json.h"
#include "base/map.h"

struct kube_own_writes {
    struct map uids;  /* the keys are the uids of the writes to wait for; the values are unused */
    int64_t version;  /* newest resourceVersion that a write of the workload itself returned */
    int64_t until_ms; /* when the wait ends; a write that was reverted at once may never be shown */
    bool resync_requested; /* the informers were asked to resync since the newest write */
};

void kube_own_writes_init(struct kube_own_writes *writes);
void kube_own_writes_release(struct kube_own_writes *writes);
void kube_own_writes_forget(struct kube_own_writes *writes); /* forgets all writes */

/* Records an object that was created. Controllers in engine/ also record other writes, with a text
 * that identifies the write in place of the uid. */
void kube_own_writes_add_created(struct kube_own_writes *writes, const char *uid, int64_t now_ms);
/* Records a write of the workload itself. `workload` is the server's answer. */
void kube_own_writes_add_updated(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

/* Must be called when an informer shows the object, existing or already deleted. `uid` is that of
 * kube_own_writes_add_created(). */
void kube_own_writes_observe(struct kube_own_writes *writes, const char *uid);

/* Returns the longest time to wait until the informers show all writes. `workload` is the workload
 * as the informer shows it. Returns 0 if all writes are shown. Forgets the writes and returns 0 if
 * the wait has ended. */
int64_t kube_own_writes_wait_ms(struct kube_own_writes *writes, const struct json *workload,
                                int64_t now_ms);

/* Returns true once if the writes are still not shown 5 s after the newest write. Must be called
 * before kube_own_writes_wait_ms(), which forgets the writes then. The caller then resyncs the
 * informers, because a watch may have ended unnoticed (docs/design/operator.md). The wait continues
 * for another 5 s. */
bool kube_own_writes_are_overdue(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

#endif

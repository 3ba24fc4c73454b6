/* What a controller wrote and its informers have not shown yet. Deciding on what was before would
 * make pods twice or write on top of an old version; that would do no harm, the server refuses it,
 * but it would be in vain. One of these a workload, on the controller's loop. */
#ifndef TRAINYARD_KUBE_OWN_WRITES_H
#define TRAINYARD_KUBE_OWN_WRITES_H

#include "base/json/json.h"
#include "base/map.h"

struct kube_own_writes {
    struct map uids;       /* of objects that were made; the values are the map's own address */
    int64_t version;       /* of the workload itself */
    int64_t until_ms;      /* a write that was undone at once may never be shown */
    bool resync_requested; /* the informers were, since the last write */
};

void kube_own_writes_init(struct kube_own_writes *writes);
void kube_own_writes_release(struct kube_own_writes *writes);
void kube_own_writes_forget(struct kube_own_writes *writes); /* all of them */

/* An object was made that has not been seen; the workload was written. */
void kube_own_writes_add_created(struct kube_own_writes *writes, const char *uid, int64_t now_ms);
void kube_own_writes_add_updated(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

/* An informer shows the object, whether it is still there or gone again. */
void kube_own_writes_observe(struct kube_own_writes *writes, const char *uid);

/* How long to wait for the rest, given the workload as the informer shows it; 0: not at all. */
int64_t kube_own_writes_wait_ms(struct kube_own_writes *writes, const struct json *workload,
                                int64_t now_ms);

/* True once when the writes are not shown after some time: the informers' watches may have ended
 * without a word (docs/design/operator.md), and are better begun anew. The wait goes on. */
bool kube_own_writes_are_overdue(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms);

#endif

/* Tracks a controller's own writes; see own_writes.h. */
#include "kube/client/own_writes.h"

#include "base/str.h"
#include "kube/object.h"

enum { AWAIT_MS = 5 * 1000 };

void kube_own_writes_init(struct kube_own_writes *writes)
{
    *writes = (struct kube_own_writes){0};
    map_init(&writes->uids);
}

void kube_own_writes_release(struct kube_own_writes *writes)
{
    map_release(&writes->uids);
}

void kube_own_writes_forget(struct kube_own_writes *writes)
{
    kube_own_writes_release(writes);
    kube_own_writes_init(writes);
}

/* Returns the resourceVersion as a number; the versions of one resource increase. Returns 0 if it
 * is not a number. The controller does not wait for such a version. */
static int64_t own_write_version(const struct json *object)
{
    int64_t version;

    if (str_to_int64(kube_meta_resource_version(object), 0, INT64_MAX, &version, NULL) < 0)
        return 0;
    return version;
}

void kube_own_writes_add_created(struct kube_own_writes *writes, const char *uid, int64_t now_ms)
{
    map_put(&writes->uids, uid, &writes->uids);
    writes->resync_requested = false;
    writes->until_ms = now_ms + AWAIT_MS;
}

void kube_own_writes_add_updated(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms)
{
    int64_t version = own_write_version(workload);

    if (version <= writes->version)
        return;
    writes->version = version;
    writes->resync_requested = false;
    writes->until_ms = now_ms + AWAIT_MS;
}

void kube_own_writes_observe(struct kube_own_writes *writes, const char *uid)
{
    map_remove(&writes->uids, uid);
}

static bool are_shown(const struct kube_own_writes *writes, const struct json *workload)
{
    int64_t version = own_write_version(workload);

    return writes->uids.count == 0 && (version == 0 || version >= writes->version);
}

bool kube_own_writes_are_overdue(struct kube_own_writes *writes, const struct json *workload,
                                 int64_t now_ms)
{
    if (writes->resync_requested || now_ms < writes->until_ms || are_shown(writes, workload))
        return false;
    writes->resync_requested = true;
    writes->until_ms = now_ms + AWAIT_MS;
    return true;
}

int64_t kube_own_writes_wait_ms(struct kube_own_writes *writes, const struct json *workload,
                                int64_t now_ms)
{
    if (are_shown(writes, workload))
        return 0;
    if (now_ms < writes->until_ms)
        return writes->until_ms - now_ms;
    kube_own_writes_forget(writes);
    return 0;
}

/* Decides from a coordination.k8s.io/v1 Lease which process leads: the pure part of leader
 * election, as in client-go. leader.c reads and writes the object.
 *
 * A lease with a holder is valid for its duration. Each process counts that time with its own
 * clock, from the moment when it first saw the current record (holder, duration, times and number
 * of transitions). The clocks of two machines are never compared. If two candidates write at the
 * same time, both send the resourceVersion that they read, and the server accepts only one
 * write. */
#ifndef TRAINYARD_KUBE_CLIENT_LEASE_H
#define TRAINYARD_KUBE_CLIENT_LEASE_H

#include "base/json/json.h"

enum kube_lease_step {
    KUBE_LEASE_WAIT, /* another process holds the lease */
    /* The lease has no holder, has expired or does not exist: write it with this identity. */
    KUBE_LEASE_TAKE,
    KUBE_LEASE_RENEW, /* this process holds the lease */
};

struct kube_lease_view {
    const struct json *lease; /* NULL: no Lease exists */
    int64_t seen_ms;          /* when this record was first seen, on the local clock */
    int64_t now_ms;           /* the current time, on the same clock */
    const char *identity;     /* the identity of this process */
};

/* Returns what this process must do. */
enum kube_lease_step kube_lease_decide(const struct kube_lease_view *view);

/* Returns the holder's identity; "" if the lease has no holder or is NULL. */
const char *kube_lease_holder(const struct json *lease);

/* Returns the record: a text of holder, duration, times and number of transitions. If the record
 * changes, the lease was written. */
char *kube_lease_record(struct arena *arena, const struct json *lease);

/* Returns the Lease to write: a copy of `lease` (NULL: a new Lease) with this holder, this duration
 * (in whole seconds, rounded up) and the current time. If the holder of `lease` was another one,
 * counts a transition. Other fields stay, in particular resourceVersion. */
struct json *kube_lease_write(struct arena *arena, const struct json *lease, const char *namespace_,
                              const char *name, const char *identity, int64_t duration_ms,
                              int64_t wall_ms);
/* Returns a copy of the Lease without a holder. After it is written, any candidate can take the
 * lease at once. */
struct json *kube_lease_release(struct arena *arena, const struct json *lease, int64_t wall_ms);

#endif

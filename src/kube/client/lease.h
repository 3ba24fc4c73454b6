/* Decides from a coordination.k8s.io/v1 Lease which process leads: the pure part of leader
 * election, as in client-go. leader.c reads and writes the object.
 *
 * A lease with a holder is valid for its duration. Each process counts that time with its own
 * clock, from the moment when it first saw the current record. The clocks of two machines are never
 * compared. If two candidates write at the same time, both send the resourceVersion that they read,
 * and the server accepts only one write. */
#ifndef TRAINYARD_KUBE_CLIENT_LEASE_H
#define TRAINYARD_KUBE_CLIENT_LEASE_H

#include "base/json/json.h"

enum kube_lease_step {
    KUBE_LEASE_WAIT,  /* another process holds the lease */
    KUBE_LEASE_TAKE,  /* no holder, or expired: write our identity into the lease, or create it */
    KUBE_LEASE_RENEW, /* we hold the lease */
};

struct kube_lease_view {
    const struct json *lease; /* NULL: no Lease exists */
    int64_t seen_ms;          /* when this record was first seen, on our clock */
    int64_t now_ms;           /* the current time, on the same clock */
    const char *identity;     /* the identity of this process */
};

enum kube_lease_step kube_lease_decide(const struct kube_lease_view *view);

const char *kube_lease_holder(const struct json *lease); /* "" if the lease is free */

/* Returns the record: a text of holder, duration, times and number of transitions. If it changes,
 * the lease was written. */
char *kube_lease_record(struct arena *arena, const struct json *lease);

/* Returns the Lease to write: a copy of `lease` (NULL: a new Lease) with this holder and the
 * current time. Other fields stay, in particular resourceVersion. */
struct json *kube_lease_write(struct arena *arena, const struct json *lease, const char *namespace_,
                              const char *name, const char *identity, int64_t duration_ms,
                              int64_t wall_ms);
/* Returns the Lease without a holder, so that any candidate can take it at once. */
struct json *kube_lease_release(struct arena *arena, const struct json *lease, int64_t wall_ms);

#endif

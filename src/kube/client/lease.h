/* Who leads, decided from a coordination.k8s.io/v1 Lease: the pure part of leader election, as
 * client-go does it. leader.c reads and writes the object; nothing here does I/O or asks a clock.
 *
 * A lease that names a holder is good for its duration, counted on the reader's own clock from the
 * moment it first saw the record as it is: the clocks of two machines are never compared. Two who
 * want it at once both write on top of the version they read, and the server lets one of them. */
#ifndef TRAINYARD_KUBE_LEASE_H
#define TRAINYARD_KUBE_LEASE_H

#include "base/json/json.h"

enum kube_lease_step {
    KUBE_LEASE_WAIT,  /* somebody else holds it */
    KUBE_LEASE_TAKE,  /* nobody does: write our name into it, or make it */
    KUBE_LEASE_RENEW, /* we do */
};

struct kube_lease_view {
    const struct json *lease; /* NULL: there is none */
    int64_t seen_ms;          /* when this record was first seen, on our clock */
    int64_t now_ms;           /* on the same clock */
    const char *identity;     /* ours */
};

enum kube_lease_step kube_lease_decide(const struct kube_lease_view *view);

const char *kube_lease_holder(const struct json *lease); /* "" for nobody */

/* What must change for a record to be another one: holder, times and the count of changes. */
char *kube_lease_record(struct arena *arena, const struct json *lease);

/* The object to write: `lease` (or a new one) with the step done. What else is in it stays, its
 * resourceVersion first of all. */
struct json *kube_lease_write(struct arena *arena, const struct json *lease, const char *namespace_,
                              const char *name, const char *identity, int64_t duration_ms,
                              int64_t wall_ms);
/* The object that gives it away: nobody holds it, for whoever comes first. */
struct json *kube_lease_release(struct arena *arena, const struct json *lease, int64_t wall_ms);

#endif

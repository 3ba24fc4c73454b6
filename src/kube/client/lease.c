/* Decides from a Lease and makes the Lease to write; see lease.h. */
#include "kube/client/lease.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

enum { DURATION_FALLBACK_S = 15 };

const char *kube_lease_holder(const struct json *lease)
{
    return json_get_string(json_get(lease, "spec"), "holderIdentity", "");
}

enum kube_lease_step kube_lease_decide(const struct kube_lease_view *view)
{
    const char *holder = kube_lease_holder(view->lease);
    int64_t duration_s =
        json_get_int(json_get(view->lease, "spec"), "leaseDurationSeconds", DURATION_FALLBACK_S);
    if (str_eq(holder, view->identity))
        return KUBE_LEASE_RENEW;
    if (*holder && view->now_ms - view->seen_ms < duration_s * 1000)
        return KUBE_LEASE_WAIT;
    return KUBE_LEASE_TAKE;
}

char *kube_lease_record(struct arena *arena, const struct json *lease)
{
    const struct json *spec = json_get(lease, "spec");
    return arena_printf(arena, "%s\n%lld\n%s\n%s\n%lld", kube_lease_holder(lease),
                        (long long)json_get_int(spec, "leaseDurationSeconds", 0),
                        json_get_string(spec, "acquireTime", ""),
                        json_get_string(spec, "renewTime", ""),
                        (long long)json_get_int(spec, "leaseTransitions", 0));
}

static void lease_set_time(struct arena *arena, struct json *spec, const char *name,
                           int64_t wall_ms)
{
    char text[MOMENT_TEXT_MAX];
    moment_format_micro(wall_ms * 1000, text);
    json_set_string(arena, spec, name, text);
}

struct json *kube_lease_write(struct arena *arena, const struct json *lease, const char *namespace_,
                              const char *name, const char *identity, int64_t duration_ms,
                              int64_t wall_ms)
{
    bool renew = lease && str_eq(kube_lease_holder(lease), identity);
    struct json *object =
        lease ? json_clone(arena, lease) : kube_object_make(arena, &KUBE_LEASES, namespace_, name);
    struct json *spec = json_ensure_object(arena, object, "spec");
    int64_t transitions = json_get_int(spec, "leaseTransitions", 0);
    kube_object_set_kind(arena, object, &KUBE_LEASES);
    json_set_string(arena, spec, "holderIdentity", identity);
    json_set_int(arena, spec, "leaseDurationSeconds", (duration_ms + 999) / 1000);
    if (!renew)
        lease_set_time(arena, spec, "acquireTime", wall_ms);
    lease_set_time(arena, spec, "renewTime", wall_ms);
    json_set_int(arena, spec, "leaseTransitions", transitions + (lease && !renew));
    return object;
}

struct json *kube_lease_release(struct arena *arena, const struct json *lease, int64_t wall_ms)
{
    struct json *object = json_clone(arena, lease);
    struct json *spec = json_ensure_object(arena, object, "spec");
    json_set_string(arena, spec, "holderIdentity", "");
    json_set_int(arena, spec, "leaseDurationSeconds", 1);
    lease_set_time(arena, spec, "acquireTime", wall_ms);
    lease_set_time(arena, spec, "renewTime", wall_ms);
    return object;
}

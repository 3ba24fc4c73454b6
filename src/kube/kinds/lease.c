/* Leases: their row and validation. A lease is renewed every few seconds, so its validation must be
 * fast. */
#include "kube/kinds/row.h"

#include "kube/kinds/rule.h"

static void lease_validate(struct field_errors *errors, const struct json *lease,
                           const struct json *old)
{
    const struct json *spec = json_get(lease, "spec");
    const struct json *duration = json_get(spec, "leaseDurationSeconds");
    if (duration && duration->type == JSON_INT && duration->integer <= 0)
        field_invalid(errors, "spec.leaseDurationSeconds", duration, "must be greater than 0");
    rule_nonnegative(errors, spec, "leaseTransitions", "spec");
}

static const struct kube_column LEASE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Holder", "Identity of the holder.", table_lease_holder),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_KIND(KUBE_LEASES, KUBE_LEASE_KIND, "coordination.k8s.io", "v1", "leases", "Lease", NAMESPACED,
    .schema = &TYPE_LEASE,
    .singular = "lease",
    .verbs = VERBS_ALL,
    .columns = COLUMNS(LEASE_COLUMNS),
    .hooks = {.validate = lease_validate});

/* Leases: who leads, and until when. They are renewed all the time, so what is checked is little.
 */
#include "engine/kinds/kinds.h"

#include "kube/kinds/rule.h"

void kind_lease_validate(struct field_errors *errors, const struct json *lease,
                         const struct json *old)
{
    const struct json *spec = json_get(lease, "spec");
    const struct json *duration = json_get(spec, "leaseDurationSeconds");
    if (duration && duration->type == JSON_INT && duration->integer <= 0)
        field_invalid(errors, "spec.leaseDurationSeconds", duration, "must be greater than 0");
    rule_nonnegative(errors, spec, "leaseTransitions", "spec");
}

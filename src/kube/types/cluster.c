/* Leases and priorities. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LEASE_SPEC, COORDINATION "LeaseSpec", "",
    TEXT(1, "holderIdentity", "", IF_SET),
    INT32(2, "leaseDurationSeconds", "", IF_SET),
    MICRO_TIME(3, "acquireTime", ""),
    MICRO_TIME(4, "renewTime", ""),
    INT32(5, "leaseTransitions", "", IF_SET),
    TEXT(6, "strategy", "", IF_SET),
    TEXT(7, "preferredHolder", "", IF_SET));

TYPE(TYPE_LEASE, COORDINATION "Lease", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", LEASE_SPEC, ""));

TYPE(TYPE_PRIORITY_CLASS, SCHEDULING "PriorityClass", "",
    KIND_ROWS,
    METADATA(1),
    INT32(2, "value", "", ALWAYS),
    BOOL(3, "globalDefault", ""),
    TEXT(4, "description", ""),
    TEXT(5, "preemptionPolicy", "", IF_SET, WORDS("Never", "PreemptLowerPriority"), FALLBACK("\"PreemptLowerPriority\"")));

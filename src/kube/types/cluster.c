/* Types of leases and priority classes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LEASE_SPEC, COORDINATION "LeaseSpec", "the holder and the times of a lease",
    TEXT(1, "holderIdentity", "the identity of the current holder", IF_SET),
    INT32(2, "leaseDurationSeconds", "seconds after renewTime at which the lease expires", IF_SET),
    MICRO_TIME(3, "acquireTime", "when the holder acquired the lease"),
    MICRO_TIME(4, "renewTime", "when the holder last renewed the lease"),
    INT32(5, "leaseTransitions", "how often the lease has changed its holder", IF_SET),
    TEXT(6, "strategy", "how the next holder is chosen", IF_SET),
    TEXT(7, "preferredHolder", "the identity that should hold the lease next", IF_SET));

TYPE(TYPE_LEASE, COORDINATION "Lease",
        "a lock that one process holds at a time, such as for leader election",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", LEASE_SPEC, "the holder and the times of the lease"));

TYPE(TYPE_PRIORITY_CLASS, SCHEDULING "PriorityClass", "a priority that pods can refer to by name",
    KIND_ROWS,
    METADATA(1),
    INT32(2, "value", "the priority of the pods; a larger number is more important", REQUIRED,
        ALWAYS),
    BOOL(3, "globalDefault", "true: pods without priorityClassName get this class"),
    TEXT(4, "description", "the purpose of the class"),
    TEXT(5, "preemptionPolicy", "whether the pods may preempt pods of lower priority", IF_SET,
        WORDS("Never", "PreemptLowerPriority"), FALLBACK("\"PreemptLowerPriority\"")));

/* Types of leases and priority classes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LEASE_SPEC, COORDINATION "LeaseSpec", "the holder of a lease, and since when",
    TEXT(1, "holderIdentity", "the identity of the holder", IF_SET),
    INT32(2, "leaseDurationSeconds", "how long it holds without being renewed", IF_SET),
    MICRO_TIME(3, "acquireTime", "when the holder got it"),
    MICRO_TIME(4, "renewTime", "when the holder last renewed it"),
    INT32(5, "leaseTransitions", "how often it went from one holder to another", IF_SET),
    TEXT(6, "strategy", "how the next holder is chosen", IF_SET),
    TEXT(7, "preferredHolder", "the identity that should hold it next", IF_SET));

TYPE(TYPE_LEASE, COORDINATION "Lease",
        "something that one holds at a time, such as the lead among several",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", LEASE_SPEC, "the identity of the holder"));

TYPE(TYPE_PRIORITY_CLASS, SCHEDULING "PriorityClass", "how important pods of this class are",
    KIND_ROWS,
    METADATA(1),
    INT32(2, "value", "the number; larger is more important", REQUIRED, ALWAYS),
    BOOL(3, "globalDefault", "true: pods that name no class are of this one"),
    TEXT(4, "description", "what the class is meant for"),
    TEXT(5, "preemptionPolicy", "whether less important pods may be ended to make room", IF_SET,
        WORDS("Never", "PreemptLowerPriority"), FALLBACK("\"PreemptLowerPriority\"")));

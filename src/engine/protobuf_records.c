/* What programs in a cluster write about themselves, with the field numbers of Kubernetes'
 * generated.proto files: leases, by which one of several leads, and events. Its own components and
 * everything built on controller-runtime send these as protobuf. Whole tables: nothing such a
 * program says is dropped. */
#include "engine/protobuf_tables.h"

static const struct protobuf_field LEASE_SPEC[] = {
    /* A leader that resigns writes "". */
    {.number = 1, .name = "holderIdentity", .type = PROTOBUF_STRING, .keep_zero = true},
    {.number = 2, .name = "leaseDurationSeconds", .type = PROTOBUF_INT, .keep_zero = true},
    MICRO_TIME(3, "acquireTime"),
    MICRO_TIME(4, "renewTime"),
    {.number = 5, .name = "leaseTransitions", .type = PROTOBUF_INT, .keep_zero = true},
    TEXT(6, "strategy"),
    TEXT(7, "preferredHolder"),
    END,
};

const struct protobuf_field PROTOBUF_LEASE[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "spec", LEASE_SPEC),
    END,
};

static const struct protobuf_field OBJECT_REFERENCE[] = {
    TEXT(1, "kind"),       TEXT(2, "namespace"),       TEXT(3, "name"),      TEXT(4, "uid"),
    TEXT(5, "apiVersion"), TEXT(6, "resourceVersion"), TEXT(7, "fieldPath"), END,
};

static const struct protobuf_field EVENT_SOURCE[] = {
    TEXT(1, "component"),
    TEXT(2, "host"),
    END,
};

static const struct protobuf_field EVENT_SERIES[] = {
    NUMBER(1, "count"),
    MICRO_TIME(2, "lastObservedTime"),
    END,
};

const struct protobuf_field PROTOBUF_EVENT[] = {
    MESSAGE(1, "metadata", PROTOBUF_OBJECT_META),
    MESSAGE(2, "involvedObject", OBJECT_REFERENCE),
    TEXT(3, "reason"),
    TEXT(4, "message"),
    MESSAGE(5, "source", EVENT_SOURCE),
    TIME(6, "firstTimestamp"),
    TIME(7, "lastTimestamp"),
    NUMBER(8, "count"),
    TEXT(9, "type"),
    MICRO_TIME(10, "eventTime"),
    MESSAGE(11, "series", EVENT_SERIES),
    TEXT(12, "action"),
    MESSAGE(13, "related", OBJECT_REFERENCE),
    TEXT(14, "reportingComponent"),
    TEXT(15, "reportingInstance"),
    END,
};

/* Events. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EVENT_SOURCE, CORE "EventSource", "",
    TEXT(1, "component", ""),
    TEXT(2, "host", ""));

LOCAL_TYPE(EVENT_SERIES, CORE "EventSeries", "",
    INT32(1, "count", ""),
    MICRO_TIME(2, "lastObservedTime", ""));

TYPE(TYPE_EVENT, CORE "Event", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "involvedObject", TYPE_OBJECT_REFERENCE, "", REQUIRED),
    TEXT(3, "reason", ""),
    TEXT(4, "message", ""),
    STRUCT(5, "source", EVENT_SOURCE, ""),
    TIME(6, "firstTimestamp", ""),
    TIME(7, "lastTimestamp", ""),
    INT32(8, "count", ""),
    TEXT(9, "type", ""),
    MICRO_TIME(10, "eventTime", ""),
    OBJECT(11, "series", EVENT_SERIES, ""),
    TEXT(12, "action", ""),
    OBJECT(13, "related", TYPE_OBJECT_REFERENCE, ""),
    TEXT(14, "reportingComponent", "", ALWAYS),
    TEXT(15, "reportingInstance", "", ALWAYS));

/* Types of events. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EVENT_SOURCE, CORE "EventSource", "the reporter of an event",
    TEXT(1, "component", "the program"),
    TEXT(2, "host", "the node it runs on"));

LOCAL_TYPE(EVENT_SERIES, CORE "EventSeries", "an event that came again and again",
    INT32(1, "count", "how often it came"),
    MICRO_TIME(2, "lastObservedTime", "when it came last", ALWAYS));

TYPE(TYPE_EVENT, CORE "Event", "something that happened to an object",
    KIND_ROWS,
    STRUCT(1, "metadata", TYPE_OBJECT_META,
        "the event's name, labels and whatever else every object has", REQUIRED),
    STRUCT(2, "involvedObject", TYPE_OBJECT_REFERENCE, "the object it happened to", REQUIRED),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TEXT(4, "message", "the reason as a sentence, for people"),
    STRUCT(5, "source", EVENT_SOURCE, "the reporter"),
    TIME(6, "firstTimestamp", "when it happened first", ALWAYS),
    TIME(7, "lastTimestamp", "when it happened last", ALWAYS),
    INT32(8, "count", "how often it happened"),
    TEXT(9, "type", "Normal or Warning"),
    MICRO_TIME(10, "eventTime", "when it happened, to the microsecond", ALWAYS),
    OBJECT(11, "series", EVENT_SERIES, "how often it came again"),
    TEXT(12, "action", "the action that was taken"),
    OBJECT(13, "related", TYPE_OBJECT_REFERENCE, "another object that it has to do with"),
    TEXT(14, "reportingComponent", "the controller that reports it", ALWAYS),
    TEXT(15, "reportingInstance", "which of several such controllers", ALWAYS));

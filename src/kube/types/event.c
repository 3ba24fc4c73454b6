/* Types of events. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EVENT_SOURCE, CORE "EventSource", "the reporter of an event",
    TEXT(1, "component", "the component that reported the event"),
    TEXT(2, "host", "the node that the component runs on"));

LOCAL_TYPE(EVENT_SERIES, CORE "EventSeries", "a series of repeated events",
    INT32(1, "count", "the number of events in the series"),
    MICRO_TIME(2, "lastObservedTime", "when the last event of the series occurred", ALWAYS));

TYPE(TYPE_EVENT, CORE "Event", "something that happened to an object",
    KIND_ROWS,
    STRUCT(1, "metadata", TYPE_OBJECT_META, "the event's name, labels and other metadata",
        REQUIRED),
    STRUCT(2, "involvedObject", TYPE_OBJECT_REFERENCE, "the object that the event is about",
        REQUIRED),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TEXT(4, "message", "a description of the event, for people"),
    STRUCT(5, "source", EVENT_SOURCE, "the component that reported the event"),
    TIME(6, "firstTimestamp", "when the event first occurred", ALWAYS),
    TIME(7, "lastTimestamp", "when the event last occurred", ALWAYS),
    INT32(8, "count", "how often the event has occurred"),
    TEXT(9, "type", "the type of the event: Normal or Warning"),
    MICRO_TIME(10, "eventTime", "when the event first occurred, to the microsecond", ALWAYS),
    OBJECT(11, "series", EVENT_SERIES, "the series that the event belongs to"),
    TEXT(12, "action", "the action that was taken or that failed"),
    OBJECT(13, "related", TYPE_OBJECT_REFERENCE, "another object that is involved"),
    TEXT(14, "reportingComponent", "the name of the controller that reported the event", ALWAYS),
    TEXT(15, "reportingInstance", "the instance of the reporting controller, such as a pod name",
        ALWAYS));

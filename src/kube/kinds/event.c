/* Events: their row. */
#include "kube/kinds/row.h"

static const struct kube_column EVENT_COLUMNS[] = {
    COLUMN_TEXT("Last Seen", "Time since the event last occurred.", table_event_last_seen),
    COLUMN_TEXT("Type", "Normal or Warning.", table_event_type),
    COLUMN_TEXT("Reason", "Reason for the event, in one word.", table_event_reason),
    COLUMN_TEXT("Object", "Object that the event is about.", table_event_object),
    COLUMN_WIDE("Subobject", "Part of the object that the event is about.", table_event_subobject),
    COLUMN_WIDE("Source", "Component that reported the event.", table_event_source),
    COLUMN_TEXT("Message", "Description of the event.", table_event_message),
    COLUMN_WIDE("First Seen", "Time since the event first occurred.", table_event_first_seen),
    COLUMN_WIDE("Count", "How often the event has occurred.", table_event_count),
    {"Name", "string", "name", "Name of the event.", 1, table_name},
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_EVENTS, KUBE_EVENT_KIND, "events", "Event", NAMESPACED,
    .schema = &TYPE_EVENT,
    .singular = "event",
    .short_names = NAMES("ev"),
    .fields = NAMES("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
        "involvedObject.uid", "involvedObject.apiVersion",
        "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(EVENT_COLUMNS));

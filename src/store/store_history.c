/* Implements the history as a ring buffer; see store_history.h. */
#include "store/store_history.h"

#include "base/mem.h"

#include <stdlib.h>

enum { CAPACITY_FIRST = 64 }; /* a power of two */

void store_event_release(struct store_event *event)
{
    store_object_unref(event->object);
    store_object_unref(event->previous);
    *event = (struct store_event){0};
}

void store_history_release(struct store_history *history)
{
    while (history->count) {
        struct store_event event = store_history_pop(history);
        store_event_release(&event);
    }
    free(history->events);
    *history = (struct store_history){0};
}

int64_t store_history_end(const struct store_history *history)
{
    return history->floor + (int64_t)history->count;
}

static void history_grow(struct store_history *history)
{
    size_t capacity = history->capacity ? history->capacity * 2 : CAPACITY_FIRST;
    struct store_event *events = mem_calloc(capacity, sizeof(*events));
    for (size_t i = 0; i < history->count; i++)
        events[i] = history->events[(history->first + i) & (history->capacity - 1)];
    free(history->events);
    history->events = events;
    history->first = 0;
    history->capacity = capacity;
}

/* Returns the size of the versions that only the history keeps, as long as it contains this change:
 * the superseded version and, if the change is a deletion, the version that watches get. */
static int64_t kept_bytes(const struct store_event *event)
{
    int64_t bytes = event->previous ? (int64_t)event->previous->kept_size : 0;
    return event->type == STORE_DELETED ? bytes + (int64_t)event->object->kept_size : bytes;
}

void store_history_push(struct store_history *history, const struct store_event *event)
{
    if (event->object->revision != store_history_end(history) + 1)
        mem_panic("store: revision %lld cannot follow revision %lld",
                  (long long)event->object->revision, (long long)store_history_end(history));
    if (history->count == history->capacity)
        history_grow(history);
    history->bytes += kept_bytes(event);
    history->events[(history->first + history->count++) & (history->capacity - 1)] = *event;
}

const struct store_event *store_history_at(const struct store_history *history, int64_t revision)
{
    size_t position = (size_t)(revision - history->floor - 1);
    if (position >= history->count)
        mem_panic("store: history has no change %lld", (long long)revision);
    return &history->events[(history->first + position) & (history->capacity - 1)];
}

struct store_event store_history_pop(struct store_history *history)
{
    struct store_event event = history->events[history->first];
    history->first = (history->first + 1) & (history->capacity - 1);
    history->count--;
    history->floor++;
    history->bytes -= kept_bytes(&event);
    return event;
}

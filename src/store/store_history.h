/* The newest changes without a gap, by revision: a watch that starts in the past gets them. */
#ifndef TRAINYARD_STORE_STORE_HISTORY_H
#define TRAINYARD_STORE_STORE_HISTORY_H

#include "store/store.h"

struct store_history {
    struct store_event *events; /* a ring buffer */
    size_t first, count, capacity;
    /* Bytes of the versions that only the history holds: superseded and deleted ones. */
    int64_t bytes;
    int64_t floor; /* the history has every change after this revision; the oldest is floor + 1 */
};

void store_history_release(struct store_history *history);

/* The newest revision; `floor` if the history is empty. */
int64_t store_history_end(const struct store_history *history);

/* Appends the change with revision end + 1. Takes over the references of the event. */
void store_history_push(struct store_history *history, const struct store_event *event);

/* The event of a revision above floor, up to the newest. */
const struct store_event *store_history_at(const struct store_history *history, int64_t revision);

/* Removes and returns the oldest event; the caller gets its references. The history must not be
 * empty. */
struct store_event store_history_pop(struct store_history *history);

void store_event_release(struct store_event *event);

#endif

/* The newest changes without a gap, by revision: what a watch that starts in the past is given. */
#ifndef TRAINYARD_STORE_STORE_HISTORY_H
#define TRAINYARD_STORE_STORE_HISTORY_H

#include "store/store.h"

struct store_history {
    struct store_event *events; /* a ring */
    size_t first, count, capacity;
    int64_t bytes; /* of the versions that are here and nowhere else: superseded and deleted ones */
    int64_t floor; /* every change after this revision is here, the first one with floor + 1 */
};

void store_history_release(struct store_history *history);

/* The newest revision: floor when it is empty. */
int64_t store_history_end(const struct store_history *history);

/* Append the change with revision end + 1; takes over the event's references. */
void store_history_push(struct store_history *history, const struct store_event *event);

/* The event of a revision in (floor, end]. */
const struct store_event *store_history_at(const struct store_history *history, int64_t revision);

/* Take the oldest event out; its references are the caller's. There must be one. */
struct store_event store_history_pop(struct store_history *history);

void store_event_release(struct store_event *event);

#endif

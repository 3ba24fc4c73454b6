/* The history: the newest changes in the order of their revisions, without gaps. All changes that
 * watches receive come from the history, so a watch can start in the past. */
#ifndef TRAINYARD_STORE_STORE_HISTORY_H
#define TRAINYARD_STORE_STORE_HISTORY_H

#include "store/store.h"

struct store_history {
    struct store_event *events; /* a ring buffer of `capacity` elements, which is a power of two */
    size_t first;               /* index of the oldest event */
    size_t count, capacity;
    int64_t bytes; /* size of the superseded and deleted versions in the history, in bytes */
    int64_t floor; /* the oldest change in the history has the revision floor + 1 */
};

void store_history_release(struct store_history *history);

/* Returns the newest revision, or `floor` if the history is empty. */
int64_t store_history_end(const struct store_history *history);

/* Appends a change, which must have the revision store_history_end() + 1. Takes ownership of the
 * references in the event. */
void store_history_push(struct store_history *history, const struct store_event *event);

/* Returns the event of a revision, which must be above `floor` and at most store_history_end(). */
const struct store_event *store_history_at(const struct store_history *history, int64_t revision);

/* Removes and returns the oldest event, which the caller releases with store_event_release(). The
 * history must not be empty. */
struct store_event store_history_pop(struct store_history *history);

/* Gives up the references in the event. */
void store_event_release(struct store_event *event);

#endif

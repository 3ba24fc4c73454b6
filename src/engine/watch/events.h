/* The events of watches as bytes. An event is encoded once per form and shared by all watches that
 * want it so, for as long as one of them has it to send; bytes and references are counted here.
 *
 * A backlog is what one watch has still to send. When the events that are kept for all of them
 * reach their limit, the longest backlog of the user that has the most is ended: its client lists
 * again, which costs less than what was kept for it. Watches of this process have no account and
 * are never ended: they take everything in the next turn of the loop.
 *
 * Knows no objects and no connections; watch.c does.
 */
#ifndef TRAINYARD_ENGINE_WATCH_EVENTS_H
#define TRAINYARD_ENGINE_WATCH_EVENTS_H

#include "base/budget.h"
#include "loop/loop.h"

#include <stdbool.h>

enum {
    /* Of one watch, as if it shared its events with none: as much as the store keeps of changes for
     * a client that comes back. */
    WATCH_BACKLOG_MAX = 8 * 1024 * 1024,
    /* Of all events that are kept: twice that, so that one watch alone never ends another. */
    WATCH_EVENTS_MAX = 2 * WATCH_BACKLOG_MAX,
};

struct watch_events;

/* What the bytes of an event depend on. */
struct watch_event_key {
    int64_t revision;    /* of the object, or of the change that took it out of the set */
    const char *type;    /* "ADDED"; a constant */
    bool columns;        /* with the names of a Table's columns */
    int64_t second;      /* when it was made, if that shows in it: a Table has ages */
    const char *options; /* whatever else the watch wants, as a text */
};

struct watch_event {
    struct watch_events *events;
    struct watch_event *next, **link; /* those of a bucket */
    int references;
    bool shared; /* found by its form */
    struct watch_event_key key;
    size_t size;
    char data[]; /* and behind it form.look */
};

struct watch_events *watch_events_new(struct loop *loop, size_t max);
/* All backlogs must be released. NULL-safe; returns NULL. */
struct watch_events *watch_events_free(struct watch_events *events);

/* A new reference, or NULL: no watch has it. */
struct watch_event *watch_events_find(struct watch_events *events,
                                      const struct watch_event_key *key);
/* A new event of these bytes, as a reference. Backlogs may be ended to make room for it. Form NULL:
 * a small one that is not shared; it is kept in any case. */
struct watch_event *watch_events_add(struct watch_events *events, const struct watch_event_key *key,
                                     const void *data, size_t size);
struct watch_event *watch_event_unref(struct watch_event *event); /* NULL-safe; returns NULL */

/* Bytes of all events that are kept, and how many backlogs had to end. */
const struct budget *watch_events_budget(const struct watch_events *events);
uint64_t watch_events_ended(const struct watch_events *events);

struct watch_backlog {
    struct watch_events *events;
    struct budget_payer *payer; /* NULL: of this process, without limits */
    struct budget bytes;        /* of all that is to be sent */
    struct watch_event *current;
    size_t sent; /* of the current event */
    struct watch_event **queue;
    size_t first, count, capacity; /* of the queue: a ring */
    bool ended;                    /* it was too long, alone or with others */
    /* The memory is needed: called within watch_events_add(). The first time it must leave no more
     * than the current event and small ones (watch_backlog_drop()), the next time nothing. */
    void (*end)(struct watch_backlog *backlog);
};

void watch_backlog_init(struct watch_backlog *backlog, struct watch_events *events,
                        const char *payer, void (*end)(struct watch_backlog *backlog));
void watch_backlog_release(struct watch_backlog *backlog); /* safe twice */

/* Take the reference to its end. False: that is more than one watch may keep, and it was not
 * taken. */
bool watch_backlog_push(struct watch_backlog *backlog, struct watch_event *event);
/* Take the reference before all others; there must be no current event. */
void watch_backlog_begin(struct watch_backlog *backlog, struct watch_event *event);
/* Forget all but the current event. */
void watch_backlog_drop(struct watch_backlog *backlog);
/* Forget the current event too. */
void watch_backlog_clear(struct watch_backlog *backlog);

/* The bytes of the current event that are to be sent; of the first of the queue if there is none.
 * 0: nothing is left. */
size_t watch_backlog_peek(struct watch_backlog *backlog, const char **ret_data);
/* So many of them are sent. */
void watch_backlog_take(struct watch_backlog *backlog, size_t size);

#endif

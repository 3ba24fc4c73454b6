/* The events of watches as bytes. An event is encoded once per key and shared by all watches that
 * need the same bytes, as long as one of them has to send it. This file counts references and
 * bytes.
 *
 * A backlog holds what one watch has still to send. When all events together reach their limit, the
 * longest backlog of the user with the most bytes is ended: its client lists again, which costs
 * less than the kept events. Watches of this process have no user and are never ended: they take
 * everything in the next turn of the loop.
 *
 * This file knows neither objects nor connections; watch.c does. */
#ifndef TRAINYARD_ENGINE_WATCH_EVENTS_H
#define TRAINYARD_ENGINE_WATCH_EVENTS_H

#include "base/budget.h"
#include "loop/loop.h"

#include <stdbool.h>

enum {
    /* Limit of one watch, as if it shared no event. The store keeps as many bytes of changes for a
     * client that reconnects. */
    WATCH_BACKLOG_MAX = 8 * 1024 * 1024,
    /* Limit of all kept events. It is twice that of one watch, so that one watch alone never ends
     * another. */
    WATCH_EVENTS_MAX = 2 * WATCH_BACKLOG_MAX,
};

struct watch_events;

/* Everything that the bytes of an event depend on. */
struct watch_event_key {
    int64_t revision;    /* of the object, or of the change that removed it from the watched set */
    const char *type;    /* "ADDED"; a constant */
    bool columns;        /* the event has the names of a Table's columns */
    int64_t second;      /* when it was encoded, if the bytes depend on it: a Table shows ages */
    const char *options; /* all other options of the watch, as a text */
};

struct watch_event {
    struct watch_events *events;
    struct list_link link; /* in a bucket, if shared */
    int references;
    bool shared; /* watch_events_find() finds it */
    struct watch_event_key key;
    size_t size;
    char data[]; /* key.options follows the data */
};

struct watch_events *watch_events_new(struct loop *loop, size_t max);
/* All backlogs must be released. NULL-safe; returns NULL. */
struct watch_events *watch_events_free(struct watch_events *events);

/* Returns a new reference, or NULL if no watch has such an event. */
struct watch_event *watch_events_find(struct watch_events *events,
                                      const struct watch_event_key *key);
/* Returns a new event with these bytes, as a reference. May end backlogs to make room. `key` NULL:
 * a small event that is not shared, for which no backlog is ended. */
struct watch_event *watch_events_add(struct watch_events *events, const struct watch_event_key *key,
                                     const void *data, size_t size);
struct watch_event *watch_event_unref(struct watch_event *event); /* NULL-safe; returns NULL */

/* The bytes of all kept events, and the number of backlogs that were ended. */
const struct budget *watch_events_budget(const struct watch_events *events);
uint64_t watch_events_ended(const struct watch_events *events);

struct watch_backlog {
    struct watch_events *events;
    struct budget_payer *payer; /* the user; NULL: a watch of this process, without limits */
    struct budget bytes;        /* all that is still to be sent */
    struct watch_event *current;
    size_t sent; /* bytes of the current event */
    struct watch_event **queue;
    size_t first, count, capacity; /* positions in the queue, which is a ring */
    bool ended;                    /* it was too long, alone or together with others */
    /* The memory is needed; called within watch_events_add(). The first call must leave at most the
     * current event and small ones (watch_backlog_drop()), the next call nothing. */
    void (*end)(struct watch_backlog *backlog);
};

void watch_backlog_init(struct watch_backlog *backlog, struct watch_events *events,
                        const char *payer, void (*end)(struct watch_backlog *backlog));
void watch_backlog_release(struct watch_backlog *backlog); /* safe to call twice */

/* Takes the reference to the end of the queue. Returns false if that exceeds the limit of one
 * watch; then the reference is not taken. */
bool watch_backlog_push(struct watch_backlog *backlog, struct watch_event *event);
/* Takes the reference before all others. There must be no current event. */
void watch_backlog_begin(struct watch_backlog *backlog, struct watch_event *event);
/* Drops all but the current event. */
void watch_backlog_drop(struct watch_backlog *backlog);
/* Drops the current event, too. */
void watch_backlog_clear(struct watch_backlog *backlog);

/* The unsent bytes of the current event, or of the first event of the queue if there is no current
 * one. Returns 0 if nothing is left. */
size_t watch_backlog_peek(struct watch_backlog *backlog, const char **ret_data);
/* `size` bytes of them are sent. */
void watch_backlog_take(struct watch_backlog *backlog, size_t size);

#endif

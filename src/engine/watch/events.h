/* Keeps the encoded events that watches have not sent yet, and limits their memory. While an event
 * is kept, all watches that need the same bytes (struct watch_event_key) share the event. The event
 * is freed when the last of these watches has sent or dropped it.
 *
 * A backlog is the queue of events that one watch has not sent yet. When all events together reach
 * their limit, the largest backlog of the user with the most bytes is ended. The client of this
 * backlog's watch lists again, which costs less than keeping the events. Watches of this process
 * have no user. Their backlogs are never ended because of a limit, because they read all events in
 * the next turn of the loop.
 *
 * The functions of this file know neither objects nor connections: event.c makes events from
 * objects, and watch.c sends them. */
#ifndef TRAINYARD_ENGINE_WATCH_EVENTS_H
#define TRAINYARD_ENGINE_WATCH_EVENTS_H

#include "base/budget.h"
#include "loop/loop.h"

#include <stdbool.h>

enum {
    /* The limit for the backlog of one watch in bytes. A shared event counts in full in each
     * backlog. The store by default keeps the same number of bytes of changes for clients that
     * reconnect. */
    WATCH_BACKLOG_MAX = 8 * 1024 * 1024,
    /* The limit for all kept events in bytes. It is twice the limit of one watch, so that one slow
     * watch alone does not cause the end of another. */
    WATCH_EVENTS_MAX = 2 * WATCH_BACKLOG_MAX,
};

struct watch_events;

/* All inputs of the encoding of an event. Events with the same key have the same bytes. */
struct watch_event_key {
    /* The revision of the object; or, if the object stopped matching the selector, the revision of
     * the change that caused it. */
    int64_t revision;
    const char *type; /* "ADDED"; must be a string constant */
    bool columns;     /* the event has the names of a Table's columns */
    /* For a Table, which shows ages: the time of encoding in seconds; otherwise 0. */
    int64_t second;
    const char *options; /* all other options of the watch as text */
};

struct watch_event {
    struct watch_events *events;
    struct list_link link; /* in watch_events.buckets, if shared */
    int references;
    bool shared; /* watch_events_find() finds it */
    struct watch_event_key key;
    size_t size;
    char data[]; /* key.options follows the data */
};

/* `max` is the limit for all kept events in bytes. */
struct watch_events *watch_events_new(struct loop *loop, size_t max);
/* Must be called after every backlog is released. NULL-safe; returns NULL. */
struct watch_events *watch_events_free(struct watch_events *events);

/* Returns a new reference to the event with this key, or NULL if no such event is kept. */
struct watch_event *watch_events_find(struct watch_events *events,
                                      const struct watch_event_key *key);
/* Returns a reference to a new event with these bytes. May end backlogs to stay below the limit. If
 * `key` is NULL, the event is not shared and ends no backlog; such an event must be small. */
struct watch_event *watch_events_add(struct watch_events *events, const struct watch_event_key *key,
                                     const void *data, size_t size);
struct watch_event *watch_event_unref(struct watch_event *event); /* NULL-safe; returns NULL */

/* Returns the budget that counts the bytes of all kept events. */
const struct budget *watch_events_budget(const struct watch_events *events);
/* Returns how many backlogs were ended because of a limit. */
uint64_t watch_events_ended(const struct watch_events *events);

struct watch_backlog {
    struct watch_events *events;
    /* The user of the watch; NULL: a watch of this process, which has no limits. */
    struct budget_payer *payer;
    struct budget bytes; /* the bytes of all events in this backlog */
    struct watch_event *current;
    size_t sent; /* bytes of the current event that are sent */
    struct watch_event **queue;
    size_t first, count, capacity; /* `queue` is a ring buffer */
    /* The backlog reached its own limit, or was ended because of the common limit. */
    bool ended;
    /* Called by watch_events_add() to free memory. The first call must drop all events except the
     * current event; it may add a small event (see watch_backlog_drop()). The second call must drop
     * all events. */
    void (*end)(struct watch_backlog *backlog);
};

/* `payer` is the name of the user that the bytes count for; NULL: a watch of this process. `end`
 * may free the backlog. */
void watch_backlog_init(struct watch_backlog *backlog, struct watch_events *events,
                        const char *payer, void (*end)(struct watch_backlog *backlog));
void watch_backlog_release(struct watch_backlog *backlog); /* safe to call twice */

/* Appends the event to the queue and takes over the caller's reference. Returns false, without
 * taking the reference, if the backlog would exceed the limit of one watch; `ended` is then set. An
 * empty backlog accepts an event of any size. */
bool watch_backlog_push(struct watch_backlog *backlog, struct watch_event *event);
/* Makes the event the current event and takes over the caller's reference. There must be no current
 * event. */
void watch_backlog_begin(struct watch_backlog *backlog, struct watch_event *event);
/* Drops all events except the current event. */
void watch_backlog_drop(struct watch_backlog *backlog);
/* Drops all events, including the current event. */
void watch_backlog_clear(struct watch_backlog *backlog);

/* Sets *ret_data to the unsent bytes of the current event and returns their number. If there is no
 * current event, the first event of the queue becomes the current event. Returns 0 if the backlog
 * is empty. */
size_t watch_backlog_peek(struct watch_backlog *backlog, const char **ret_data);
/* Called when `size` bytes of the current event are sent. */
void watch_backlog_take(struct watch_backlog *backlog, size_t size);

#endif

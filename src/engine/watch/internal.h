/* Shared by watch.c, which runs watchers, and event.c, which makes their events. A watcher is the
 * state of one WATCH request. No other file may include this header. */
#ifndef TRAINYARD_ENGINE_WATCH_INTERNAL_H
#define TRAINYARD_ENGINE_WATCH_INTERNAL_H

#include "engine/api/call.h"
#include "engine/api/open_calls.h"
#include "engine/watch/events.h"

struct watcher {
    struct api_call *call;
    struct api_filter filter;
    struct store_watch *watch;           /* NULL: the watcher gets no more changes */
    struct loop_timer timeout, bookmark; /* end the watch; send the next bookmark */
    struct open_call link;               /* in the list of open calls */
    struct arena *scratch; /* memory for encoding one event; reset for the next event */
    const char *options;   /* watch_event_key.options of its events */
    /* The objects of the initial state; those from `initial_at` on are not sent yet. */
    struct store_object **initial;
    size_t initial_at, initial_count;
    bool initial_end;         /* a bookmark must still be sent at the end of the initial state */
    int64_t initial_revision; /* the revision of the initial state */
    struct watch_backlog backlog;
    int64_t seen;      /* all changes up to this revision are sent or in the backlog */
    bool table;        /* the client requests Tables */
    bool columns_sent; /* an earlier event has the names of the columns */
    bool bookmarks;    /* the client requests bookmarks */
    bool ending;       /* the watch ends when the backlog is sent */
    bool encoding; /* an event is being encoded: the watcher may be ended but must not be freed */
    enum kube_include include; /* what a row of a Table contains of its object */
};

/* ---- event.c */

/* Returns a reference to the event of a stored object. If `revision` differs from the revision of
 * the object, the event says that the object stopped matching the selector at `revision`. Uses a
 * kept event with the same key, or else encodes the event. The object must be readable (stored.h),
 * because a whole object is copied without a check. Returns NULL if a Table or
 * PartialObjectMetadata cannot be made of the object. May end watchers, including this one, but
 * frees only other watchers. */
struct watch_event *watch_event_of_object(struct watcher *watcher, const char *type,
                                          struct store_object *stored, int64_t revision);
/* Like watch_event_of_object(), for a change and a watcher with a selector. Returns NULL if the
 * watcher gets no event. */
struct watch_event *watch_event_of_change(struct watcher *watcher, const struct store_event *event);
/* Returns an event of an object that is not in the store, such as a Status. The event is not shared
 * and ends no backlog, so the object must be small. Changes `object`. */
struct watch_event *watch_event_of_json(struct watcher *watcher, const char *type,
                                        struct json *object);
/* Returns a bookmark event, which says that the watcher has all changes up to `revision`.
 * `initial_end`: the bookmark is the one at the end of the initial state. */
struct watch_event *watch_bookmark_new(struct watcher *watcher, int64_t revision, bool initial_end);
/* Returns whether the object matches the watcher's selectors. Returns false if `stored` is NULL or
 * cannot be read. */
bool watch_matches(struct watcher *watcher, struct store_object *stored);

#endif

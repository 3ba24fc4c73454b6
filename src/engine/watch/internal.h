/* Shared by watch.c, which runs watchers, and event.c, which makes their events. No other file may
 * include this header. */
#ifndef TRAINYARD_ENGINE_WATCH_INTERNAL_H
#define TRAINYARD_ENGINE_WATCH_INTERNAL_H

#include "engine/api/call.h"
#include "engine/api/open_calls.h"
#include "engine/watch/events.h"

struct watcher {
    struct api_call *call;
    struct api_filter filter;
    struct store_watch *watch;
    struct loop_timer timeout, bookmark;
    struct open_call link;
    struct arena *scratch; /* freed after each event */
    const char *options;   /* watch_event_key.options of its events */
    /* The objects of the initial state; those from `initial_at` on are not sent yet. */
    struct store_object **initial;
    size_t initial_at, initial_count;
    bool initial_end;         /* a bookmark must be sent at the end of the initial state */
    int64_t initial_revision; /* the revision of the initial state */
    struct watch_backlog backlog;
    int64_t seen; /* all changes up to this revision are sent or in the backlog */
    bool table, columns_sent, bookmarks;
    bool ending;   /* the watch ends when the backlog is sent */
    bool encoding; /* an event is being encoded: the watcher may be ended but must not be freed */
    enum kube_include include;
};

/* ---- event.c */

/* Returns the event of a stored object. If `revision` differs from the revision of the object, the
 * event says that the object stopped matching the selector at `revision`. Encodes the event only if
 * no other watcher has it. Returns NULL if the object cannot be read. May end watchers, including
 * this one. */
struct watch_event *watch_event_of_object(struct watcher *watcher, const char *type,
                                          struct store_object *stored, int64_t revision);
/* Returns the event of a change for a watcher with a selector, or NULL if the watcher gets no
 * event. */
struct watch_event *watch_event_of_change(struct watcher *watcher, const struct store_event *event);
/* Returns a small event that is not shared. */
struct watch_event *watch_event_of_json(struct watcher *watcher, const char *type,
                                        struct json *object);
struct watch_event *watch_bookmark_new(struct watcher *watcher, int64_t revision, bool initial_end);
/* Whether the object matches the watcher's selectors. False for an object that cannot be read. */
bool watch_matches(struct watcher *watcher, struct store_object *stored);

#endif

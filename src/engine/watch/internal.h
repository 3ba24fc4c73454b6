/* Shared by the files of this folder: watch.c has the lifecycle of a watcher, event.c makes its
 * events. Included by them only. */
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
    struct arena *scratch;         /* freed after each event */
    const char *options;           /* its part of struct watch_event_key */
    struct store_object **initial; /* the objects of the initial state that are still to be sent */
    size_t initial_at, initial_count;
    bool initial_end;         /* a bookmark marks the end of the initial state */
    int64_t initial_revision; /* the revision of the initial state */
    struct watch_backlog backlog;
    int64_t seen; /* every change up to this revision is in the backlog, or was sent */
    bool table, columns_sent, bookmarks;
    bool ending;   /* the watch ends when the backlog is sent */
    bool encoding; /* its event is being encoded: it may be ended but not freed */
    enum kube_include include;
};

/* ---- event.c */

/* Returns the event of an object, or of an object that left the watched set at a later revision.
 * Encodes it only if no other watcher has it. Returns NULL if the object cannot be read. May end
 * watches, this one included. */
struct watch_event *watch_event_of_object(struct watcher *watcher, const char *type,
                                          struct store_object *stored, int64_t revision);
/* The event that a change means for a watcher with a selector; NULL: none. */
struct watch_event *watch_event_of_change(struct watcher *watcher, const struct store_event *event);
/* A small event that is not shared. */
struct watch_event *watch_event_of_json(struct watcher *watcher, const char *type,
                                        struct json *object);
struct watch_event *watch_bookmark_new(struct watcher *watcher, int64_t revision, bool initial_end);
/* Whether the object is in the watched set. An object that cannot be read is in no set. */
bool watch_matches(struct watcher *watcher, struct store_object *stored);

#endif

/* What the files of WATCH share: watch.c has the life of a watcher, event.c makes
 * its events. Included by them only. */
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
    struct arena *scratch;         /* of one event */
    const char *options;           /* of its events, see watch_events.h */
    struct store_object **initial; /* the present state, as far as it is still to be sent */
    size_t initial_at, initial_count;
    bool initial_end;         /* its end is to be marked */
    int64_t initial_revision; /* of that state */
    struct watch_backlog backlog;
    int64_t seen; /* the revision up to which everything was put into the backlog */
    bool table, columns_sent, bookmarks;
    bool ending;   /* once the backlog is sent */
    bool encoding; /* it is on the stack, and may be ended but not be freed */
    enum kube_include include;
};

/* ---- event.c */

/* The event of an object, or of one that left the set with a later revision; as other watchers have
 * it, or encoded for all of them. NULL: the object cannot be read. Watches may be ended meanwhile,
 * this one too. */
struct watch_event *watch_event_of_object(struct watcher *watcher, const char *type,
                                          struct store_object *stored, int64_t revision);
/* What a change is to a watcher with a selector; NULL: nothing. */
struct watch_event *watch_event_of_change(struct watcher *watcher, const struct store_event *event);
/* A small event that is this watcher's alone. */
struct watch_event *watch_event_of_json(struct watcher *watcher, const char *type,
                                        struct json *object);
struct watch_event *watch_bookmark_new(struct watcher *watcher, int64_t revision, bool initial_end);
/* Whether the object is in the watcher's set. What cannot be read is in no watch. */
bool watch_matches(struct watcher *watcher, struct store_object *stored);

#endif

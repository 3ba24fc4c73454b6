/* What the files of WATCH share: rest_watch.c has the life of a watcher, rest_watch_event.c makes
 * its events. Included by them only. */
#ifndef TRAINYARD_ENGINE_REST_WATCH_INTERNAL_H
#define TRAINYARD_ENGINE_REST_WATCH_INTERNAL_H

#include "engine/api/call.h"
#include "engine/api/open_calls.h"
#include "engine/watch/events.h"

struct rest_watcher {
    struct rest *rest;
    struct rest_filter filter;
    struct store_watch *watch;
    struct loop_timer timeout, bookmark;
    struct watcher_link link;
    struct arena *scratch;         /* of one event */
    const char *look;              /* of its events, see watch_events.h */
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

/* ---- rest_watch_event.c */

/* The event of an object, or of one that left the set with a later revision; as other watchers have
 * it, or encoded for all of them. NULL: the object cannot be read. Watches may be ended meanwhile,
 * this one too. */
struct watch_event *rest_watch_event_of(struct rest_watcher *watcher, const char *type,
                                        struct store_object *stored, int64_t revision);
/* What a change is to a watcher with a selector; NULL: nothing. */
struct watch_event *rest_watch_filtered_event(struct rest_watcher *watcher,
                                              const struct store_event *event);
/* A small event that is this watcher's alone. */
struct watch_event *rest_watch_event_of_json(struct rest_watcher *watcher, const char *type,
                                             struct json *object);
struct watch_event *rest_watch_make_bookmark(struct rest_watcher *watcher, int64_t revision,
                                             bool initial_end);
/* Whether the object is in the watcher's set. What cannot be read is in no watch. */
bool rest_watch_matches(struct rest_watcher *watcher, struct store_object *stored);

#endif

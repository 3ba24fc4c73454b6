/* The watches that are open, so that they can be ended: all when the engine goes, some when their
 * resource does. */
#ifndef TRAINYARD_ENGINE_WATCHERS_H
#define TRAINYARD_ENGINE_WATCHERS_H

#include "base/list.h"

struct watcher_link {
    struct list_link link; /* in the engine's list of watchers */
    void (*end)(struct watcher_link *link);
    const char *storage; /* of what is watched */
};

static inline void watcher_link_add(struct list_head *watchers, struct watcher_link *link,
                                    const char *storage, void (*end)(struct watcher_link *link))
{
    link->end = end;
    link->storage = storage;
    list_append(watchers, &link->link);
}

static inline void watcher_link_remove(struct watcher_link *link)
{
    list_remove(&link->link);
}

struct engine;
struct list_head *engine_watchers(struct engine *engine); /* struct watcher_link */

#endif

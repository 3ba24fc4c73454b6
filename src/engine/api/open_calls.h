/* The watches that are open, so that they can be ended: all when the engine goes, some when their
 * resource does. */
#ifndef TRAINYARD_ENGINE_WATCHERS_H
#define TRAINYARD_ENGINE_WATCHERS_H

struct watcher_link {
    struct watcher_link *next, *previous; /* a ring; the head is a link as well */
    void (*end)(struct watcher_link *link);
    const char *storage; /* of what is watched */
};

static inline void watcher_ring_init(struct watcher_link *head)
{
    head->next = head->previous = head;
}

static inline void watcher_link_add(struct watcher_link *head, struct watcher_link *link,
                                    const char *storage, void (*end)(struct watcher_link *link))
{
    link->end = end;
    link->storage = storage;
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

static inline void watcher_link_remove(struct watcher_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

struct engine;
struct watcher_link *engine_watchers(struct engine *engine); /* the head */

#endif

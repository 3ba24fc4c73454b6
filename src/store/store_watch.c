/* Delivers changes to watches; see store.h. Each watch has a cursor, the revision up to which it
 * has received the changes of the history. Each step of a delivery takes the oldest cursor and
 * delivers the next change to all watches with this cursor. The steps repeat until all watches have
 * received all changes. So past and new changes are delivered in the same way, in order and exactly
 * once. All watches get a change directly one after another, so that the encoding of the change for
 * one watch can be reused for the next. A callback may stop any watch and start new watches. No
 * watch is freed during a delivery. */
#include "base/mem.h"
#include "base/str.h"
#include "store/store_internal.h"

#include <stdlib.h>

struct store_watch {
    struct store *store;   /* NULL: the store was closed */
    struct list_link link; /* in store.watches */
    char *prefix;
    int64_t seen; /* the cursor: revision up to which changes were delivered */
    store_watch_callback *callback;
    void *context;
    bool stopped;
};

static void watch_free(struct store_watch *watch)
{
    if (watch->store)
        list_remove(&watch->link);
    free(watch->prefix);
    free(watch);
}

/* Returns the lowest cursor of all watches that are not stopped, or the newest revision if no
 * cursor is lower. */
static int64_t oldest_cursor(const struct store *store)
{
    int64_t oldest = store_revision(store);
    LIST_EACH (const struct store_watch, watch, &store->watches, link)
        if (!watch->stopped && watch->seen < oldest)
            oldest = watch->seen;
    return oldest;
}

static void watch_deliver(struct store_watch *watch, const struct store_event *event)
{
    watch->seen = event->object->revision;
    if (str_has_prefix(event->object->key, watch->prefix))
        watch->callback(watch->context, event);
}

/* Delivers the change after revision `seen` to all watches with this cursor. */
static void deliver_next(struct store *store, int64_t seen)
{
    /* Copy the event, because a callback may change the memory of the history. */
    const struct store_event event = *store_history_at(&store->history, seen + 1);
    LIST_EACH (struct store_watch, watch, &store->watches, link)
        if (!watch->stopped && watch->seen == seen)
            watch_deliver(watch, &event);
}

void store_watches_deliver(struct store *store)
{
    store->delivering = true;
    /* The outer loop repeats if a callback has started a watch with an older cursor. */
    for (int64_t seen; (seen = oldest_cursor(store)) < store_revision(store);)
        for (; seen < store_revision(store); seen++)
            deliver_next(store, seen);
    store->delivering = false;
    LIST_EACH_SAFE (struct store_watch, watch, &store->watches, link)
        if (watch->stopped)
            watch_free(watch);
}

static void on_deliver(struct loop_task *task)
{
    store_watches_deliver(CONTAINER_OF(task, struct store, deliver));
}

void store_watches_init(struct store *store)
{
    store->deliver.callback = on_deliver;
}

void store_watches_detach(struct store *store)
{
    loop_defer_cancel(store->loop, &store->deliver);
    LIST_EACH_SAFE (struct store_watch, watch, &store->watches, link) {
        list_remove(&watch->link);
        watch->store = NULL;
    }
}

int store_watch(struct store *store, const char *prefix, int64_t since,
                store_watch_callback *callback, void *context, struct store_watch **ret,
                struct err *err)
{
    int64_t now = store_revision(store);
    if (since < -1)
        return err_set(err, ERR_BAD_REQUEST, "%lld is not a revision", (long long)since);
    if (since >= 0 && !store_remembers(store, since))
        return err_set(err, ERR_EXPIRED, "too old resource version: %lld (%lld)", (long long)since,
                       (long long)store->history.floor);
    struct store_watch *watch = mem_zalloc(sizeof(*watch));
    watch->store = store;
    watch->prefix = mem_strdup(prefix);
    watch->seen = since < 0 ? now : since;
    watch->callback = callback;
    watch->context = context;
    list_append(&store->watches, &watch->link);
    if (watch->seen < now)
        loop_defer(store->loop, &store->deliver);
    *ret = watch;
    return 0;
}

void store_watch_stop(struct store_watch *watch)
{
    if (!watch)
        return;
    watch->stopped = true;
    if (!watch->store || !watch->store->delivering)
        watch_free(watch);
}

/* The store of objects with revisions; see store.h. This file has the index of all objects, checks
 * writes against the index and applies the committed changes. All code here runs on the loop
 * thread. store_disk.c accesses the database, store_writer.c is the writer thread, and
 * store_watch.c delivers changes to watches. */
#include "store/store.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/store_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MAX = 1024,
    PENDING_MAX = 100 * 1000, /* maximum number of pending writes; further writes are refused */
    HISTORY_DEFAULT = 10000,
    HISTORY_BYTES_DEFAULT = 8 * 1024 * 1024,
    DAMAGE_DEFAULT = 16,
    ALIVE_MS = 3600 * 1000, /* arbitrary, because the timer only keeps the loop running */
    REFILL_MS = 1000,       /* interval between checks whether a full disk has space again */
};

static struct store_entry *store_entry_of(const struct store *store, const char *key)
{
    struct key_node *node = key_index_find(&store->index, key);
    return node ? node->value : NULL;
}

static struct store_entry *entry_make(struct store *store, const char *key)
{
    struct key_node *node = key_index_insert(&store->index, key);
    if (!node->value)
        node->value = mem_zalloc(sizeof(struct store_entry));
    return node->value;
}

/* Returns an object that is probably similar to the next version of the key: the newest version of
 * the key, else the object of the previous key, because the objects of a job are neighbours in key
 * order. Returns NULL if there is neither. */
static struct store_object *sibling_of(const struct store *store, const struct store_entry *entry,
                                       const char *key)
{
    if (entry->newest)
        return entry->newest;
    const struct key_node *node = key_index_before(&store->index, key);
    const struct store_entry *neighbour = node ? node->value : NULL;
    return neighbour ? neighbour->newest : NULL;
}

static void set_object(struct store_object **place, struct store_object *object)
{
    struct store_object *old = *place;
    *place = object ? store_object_ref(object) : NULL;
    store_object_unref(old);
}

static void entry_remove_if_idle(struct store *store, struct store_entry *entry, const char *key)
{
    if (entry->committed || entry->pending)
        return;
    store_object_unref(entry->newest);
    free(entry);
    key_index_remove(&store->index, key);
}

/* ---- history --------------------------------------------------------------------------------- */

/* Queues the row of a deletion for removal from the disk. Keeps the row if a damaged row may have
 * the same key, because without it the next start would report the object as missing. */
static void drop_deletion(struct store *store, const struct store_object *object)
{
    if (!store_damage_concerns(store, object->key))
        store_writer_drop(&store->writer, object->revision);
}

/* Removes the oldest change from the history. Queues the row of the version that this change
 * superseded for removal from the disk. If the change is a deletion, drop_deletion() decides about
 * its own row. The disk keeps the state at history.floor and every later change. */
static void forget_oldest(struct store *store)
{
    struct store_event event = store_history_pop(&store->history);
    if (event.previous)
        store_writer_drop(&store->writer, event.previous->revision);
    if (event.type == STORE_DELETED)
        drop_deletion(store, event.object);
    store_event_release(&event);
}

static void trim_history(struct store *store)
{
    while ((int64_t)store->history.count > store->history_max ||
           store->history.bytes > store->history_bytes_max)
        forget_oldest(store);
}

static struct store_event make_event(struct store_object *object, struct store_object *previous,
                                     bool deleted)
{
    return (struct store_event){
        .type = deleted                                       ? STORE_DELETED
                : object->create_revision == object->revision ? STORE_ADDED
                                                              : STORE_MODIFIED,
        .object = store_object_ref(object),
        .previous = previous ? store_object_ref(previous) : NULL,
    };
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Empties the history. The next change that is added to it must have the revision `floor` + 1. */
static void restart_history(struct store *store, int64_t floor)
{
    while (store->history.count)
        forget_oldest(store);
    store->history.floor = floor;
}

/* A damaged row that proves the deletion of an object is applied. Any other damaged row is ignored,
 * so that the previous version of the object stays the newest. Controllers recover from an old
 * version, but they would treat an absent object as deleted: they would stop its pods and delete
 * its dependents. */
static void load_damaged_row(struct store *store, const struct store_row *row)
{
    struct store_owner owner = store_damage_find_owner(store, row);
    bool is_deletion = owner.is_proven && owner.deleted;
    if (is_deletion)
        store_damage_supersede(store, owner.key, row->revision);
    store_damage_add(store, row, &owner);
    struct store_entry *entry = is_deletion ? store_entry_of(store, owner.key) : NULL;
    if (!entry)
        return;
    store_writer_drop(&store->writer, entry->committed->revision);
    _cleanup_free_ char *key = mem_strdup(owner.key); /* owner.key may belong to the entry */
    set_object(&entry->committed, NULL);
    set_object(&entry->newest, NULL);
    entry_remove_if_idle(store, entry, key);
}

/* Loads one row. Rows come in the order of their revisions. Old revisions have gaps, because
 * superseded rows are removed. The history starts after the last gap, and after the last row whose
 * previous version is missing. */
static void load_row(void *context, const struct store_row *row)
{
    struct store *store = context;
    if (row->damage != STORE_ROW_INTACT) {
        load_damaged_row(store, row);
        return;
    }
    store_damage_supersede(store, row->key, row->revision);
    struct store_entry *entry = entry_make(store, row->key);
    struct store_object *object =
        store_object_new(row->key, row->data, row->size, row->revision, row->created,
                         sibling_of(store, entry, row->key));
    bool is_first = row->created == row->revision && !row->deleted;
    bool is_known = is_first || entry->committed;
    if (row->revision != store_history_end(&store->history) + 1)
        restart_history(store, row->revision - 1);
    if (is_known) {
        struct store_event event = make_event(object, entry->committed, row->deleted);
        store_history_push(&store->history, &event);
    } else {
        restart_history(store, row->revision);
        if (row->deleted)
            drop_deletion(store, object);
    }
    set_object(&entry->committed, row->deleted ? NULL : object);
    set_object(&entry->newest, entry->committed);
    entry_remove_if_idle(store, entry, row->key);
    store_object_unref(object);
    trim_history(store);
}

static int store_load(struct store *store, struct err *err)
{
    int64_t last = 0;
    int result = store_disk_load(store->disk, load_row, store, &last, err);
    if (result < 0)
        return result;
    store_damage_finish(store, last);
    /* If rows are damaged or the newest rows are missing, the history starts after the last
     * revision. A watch that started earlier would miss the changes of these rows. */
    if (last != store_history_end(&store->history) || store_is_damaged(store))
        restart_history(store, last);
    store->next_revision = last + 1;
    return 0;
}

static void on_finished(struct store_writer *writer, struct list_head *committed,
                        struct list_head *lost, const struct err *failure);
static void on_stopped(struct store_writer *writer);

static void on_alive(struct loop_timer *timer)
{
    loop_timer_start(timer, ALIVE_MS);
}

/* ---- a full disk ----------------------------------------------------------------------------- */

static void on_refill(struct loop_timer *timer)
{
    struct store *store = CONTAINER_OF(timer, struct store, refill);
    store_writer_refill(&store->writer);
}

/* Updates store->full from the writer, and calls on_full if it has changed. */
static void store_update_full(struct store *store)
{
    bool full = store->disk && store_writer_is_full(&store->writer);
    bool has_changed = full != store->full;
    store->full = full;
    if (full && !store->closing && !store->refill.running)
        loop_timer_start(&store->refill, REFILL_MS);
    if (!full)
        loop_timer_stop(&store->refill);
    if (!has_changed || !store->on_full)
        return;
    struct err err = ERR_INIT;
    if (full)
        store_disk_fail_full(store->disk, &err);
    store->on_full(store->on_full_context, full ? &err : NULL);
}

static void store_free(struct store *store)
{
    store_watches_detach(store);
    loop_timer_stop(&store->alive);
    loop_timer_stop(&store->refill);
    store_history_release(&store->history);
    for (struct key_node *node = key_index_from(&store->index, ""); node; node = node->next[0]) {
        struct store_entry *entry = node->value;
        store_object_unref(entry->committed);
        store_object_unref(entry->newest);
        free(entry);
    }
    key_index_release(&store->index);
    store_damage_release(&store->damage);
    store_disk_free(store->disk);
    free(store);
}

int store_open(struct loop *loop, const struct store_options *options, struct store **ret,
               struct err *err)
{
    struct store *store = mem_zalloc(sizeof(*store));
    store->loop = loop;
    store->next_revision = 1;
    store->history_max = options->history_max > 0 ? options->history_max : HISTORY_DEFAULT;
    store->history_bytes_max =
        options->history_bytes_max > 0 ? options->history_bytes_max : HISTORY_BYTES_DEFAULT;
    store->damage_max = options->damage_max > 0 ? options->damage_max : DAMAGE_DEFAULT;
    key_index_init(&store->index);
    store_watches_init(store);
    loop_timer_init(loop, &store->alive, on_alive);
    loop_timer_init(loop, &store->refill, on_refill);
    store->on_full = options->on_full;
    store->on_full_context = options->on_full_context;
    int result = options->path ? store_disk_open(options->path, &store->disk, err) : 0;
    store->writer.loop = loop;
    store->writer.disk = store->disk;
    store->writer.finished = on_finished;
    store->writer.stopped = on_stopped;
    store_writer_init(&store->writer);
    if (result == 0 && store->disk)
        result = store_load(store, err);
    if (result == 0)
        result = store_writer_start(&store->writer, err);
    if (result < 0) {
        store_writer_release(&store->writer);
        store_free(store);
        return result;
    }
    store_update_full(store);
    *ret = store;
    return 0;
}

void store_close(struct store *store, void (*closed)(void *context), void *context)
{
    if (store->closing)
        mem_panic("store: closed twice");
    store->closing = true;
    store->closed = closed;
    store->closed_context = context;
    loop_timer_stop(&store->refill);
    if (store->disk)
        loop_timer_start(&store->alive, ALIVE_MS);
    store_writer_stop(&store->writer);
}

static void on_stopped(struct store_writer *writer)
{
    struct store *store = CONTAINER_OF(writer, struct store, writer);
    void (*closed)(void *) = store->closed;
    void *context = store->closed_context;
    store_free(store);
    if (closed)
        closed(context);
}

/* ---- reading --------------------------------------------------------------------------------- */

int64_t store_revision(const struct store *store)
{
    return store_history_end(&store->history);
}

int64_t store_next_revision(const struct store *store)
{
    return store->next_revision;
}

struct store_object *store_get(struct store *store, const char *key)
{
    const struct store_entry *entry = store_entry_of(store, key);
    return entry && entry->committed ? store_object_ref(entry->committed) : NULL;
}

struct store_object *store_get_pending(struct store *store, const char *key)
{
    const struct store_entry *entry = store_entry_of(store, key);
    return entry && entry->newest ? store_object_ref(entry->newest) : NULL;
}

size_t store_list_after(struct store *store, const char *prefix, const char *after,
                        struct store_object ***ret_objects)
{
    VEC(struct store_object *) objects = {0};
    const char *from = strcmp(after, prefix) > 0 ? after : prefix;
    for (struct key_node *node = key_index_from(&store->index, from);
         node && str_has_prefix(node->key, prefix); node = node->next[0]) {
        const struct store_entry *entry = node->value;
        if (entry->committed && !str_eq(node->key, after))
            vec_push(&objects, store_object_ref(entry->committed));
    }
    *ret_objects = objects.items;
    return objects.count;
}

size_t store_list(struct store *store, const char *prefix, struct store_object ***ret_objects)
{
    return store_list_after(store, prefix, "", ret_objects);
}

bool store_remembers(const struct store *store, int64_t since)
{
    return since >= store->history.floor;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int check_failure(const struct store *store, struct err *err)
{
    if (store->failure.code == ERR_NONE)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   store->failure.sys == ENOSPC ? "the store cannot write: %s"
                                                : "the store cannot write any more: %s",
                   store->failure.message);
}

int store_check(const struct store *store, struct err *err)
{
    int result = check_failure(store, err);
    return result == 0 && store->full ? store_disk_fail_full(store->disk, err) : result;
}

static int check_accepts_write(const struct store *store, const char *key, size_t size,
                               struct err *err)
{
    int result = check_failure(store, err);
    if (result < 0)
        return result;
    if (store->closing)
        return err_set(err, ERR_UNAVAILABLE, "the store is closing");
    if (store->pending >= PENDING_MAX)
        return err_set(err, ERR_TOO_MANY, "%d writes are pending: try again later", PENDING_MAX);
    if (str_is_empty(key) || strlen(key) > KEY_MAX)
        return err_set(err, ERR_INVALID, "a key must have 1 to %d bytes, but this one has %zu",
                       KEY_MAX, strlen(key));
    if (size > STORE_VALUE_MAX)
        return err_set(err, ERR_TOO_LARGE, "'%s' has %zu bytes, but the limit is %d", key, size,
                       STORE_VALUE_MAX);
    return 0;
}

/* Checks that the newest version has the revision `expected`, or that there is no version if
 * `expected` is 0. */
static int check_expected(const struct store_object *newest, const char *key, int64_t expected,
                          struct err *err)
{
    if (!newest)
        return expected == 0 ? 0 : err_set(err, ERR_NOT_FOUND, "'%s' does not exist", key);
    if (expected == 0)
        return err_set(err, ERR_EXISTS, "'%s' exists already", key);
    if (expected != newest->revision)
        return err_set(err, ERR_CONFLICT,
                       "'%s' was changed: it is at revision %lld, not %lld; read it again", key,
                       (long long)newest->revision, (long long)expected);
    return 0;
}

static void push_change(struct store *store, const char *key, const void *data, size_t size,
                        bool deleted, store_done *done, void *context)
{
    struct store_entry *entry = entry_make(store, key);
    struct store_object *previous = entry->newest;
    int64_t revision = store->next_revision++;
    struct store_change *change = mem_zalloc(sizeof(*change));
    change->object =
        store_object_new(key, data, size, revision, previous ? previous->create_revision : revision,
                         sibling_of(store, entry, key));
    change->previous = previous ? store_object_ref(previous) : NULL;
    change->deleted = deleted;
    change->done = done;
    change->context = context;
    set_object(&entry->newest, deleted ? NULL : change->object);
    entry->pending++;
    if (store->pending++ == 0 && store->disk)
        loop_timer_start(&store->alive, ALIVE_MS);
    store_writer_push(&store->writer, change);
}

static const struct store_object *newest_of(const struct store *store, const char *key)
{
    const struct store_entry *entry = store_entry_of(store, key);
    return entry ? entry->newest : NULL;
}

int store_put(struct store *store, const char *key, const void *data, size_t size, int64_t expected,
              store_done *done, void *context, struct err *err)
{
    int result = store_check(store, err);
    return result < 0 ? result
                      : store_put_reserved(store, key, data, size, expected, done, context, err);
}

int store_put_reserved(struct store *store, const char *key, const void *data, size_t size,
                       int64_t expected, store_done *done, void *context, struct err *err)
{
    int result = check_accepts_write(store, key, size, err);
    if (result == 0)
        result = check_expected(newest_of(store, key), key, expected, err);
    if (result == 0)
        push_change(store, key, data, size, false, done, context);
    return result;
}

int store_delete(struct store *store, const char *key, const void *data, size_t size,
                 int64_t expected, store_done *done, void *context, struct err *err)
{
    int result = check_accepts_write(store, key, size, err);
    if (result == 0 && expected == 0)
        result = err_set(err, ERR_INVALID, "cannot delete '%s' without its current revision", key);
    if (result == 0)
        result = check_expected(newest_of(store, key), key, expected, err);
    if (result == 0)
        push_change(store, key, data, size, true, done, context);
    return result;
}

/* Applies a committed change (`err` is NULL) or discards a lost change, and calls its `done`
 * callback. */
static void end_change(struct store *store, struct store_change *change, const struct err *err)
{
    struct store_object *object = change->object;
    struct store_entry *entry = store_entry_of(store, object->key);
    entry->pending--;
    if (--store->pending == 0 && !store->closing)
        loop_timer_stop(&store->alive);
    if (err) {
        set_object(&entry->newest, entry->committed);
    } else {
        struct store_event event = make_event(object, change->previous, change->deleted);
        store_history_push(&store->history, &event);
        set_object(&entry->committed, change->deleted ? NULL : object);
    }
    entry_remove_if_idle(store, entry, object->key);
    if (change->done)
        change->done(change->context, object, err);
    store_object_unref(change->object);
    store_object_unref(change->previous);
    free(change);
}

static void changes_end(struct store *store, struct list_head *list, const struct err *err)
{
    LIST_EACH_SAFE (struct store_change, change, list, link)
        end_change(store, change, err);
}

/* Clears the failure of a transaction for which the disk had no space, as soon as all pending
 * writes have failed. The transaction was rolled back, so the database is intact. Any other failure
 * stays. The next write gets the revision after the newest committed change. */
static void store_recover(struct store *store)
{
    if (store->failure.sys != ENOSPC || store->pending > 0)
        return;
    err_clear(&store->failure);
    store_writer_recover(&store->writer);
    store->next_revision = store_history_end(&store->history) + 1;
}

static void on_finished(struct store_writer *writer, struct list_head *committed,
                        struct list_head *lost, const struct err *failure)
{
    struct store *store = CONTAINER_OF(writer, struct store, writer);
    bool has_committed = !list_is_empty(committed);
    if (failure)
        store->failure = *failure; /* set first, so that callbacks cannot start writes */
    changes_end(store, committed, NULL);
    changes_end(store, lost, failure);
    store_recover(store);
    store_update_full(store);
    if (!has_committed)
        return;
    /* Deliver the changes to the watches after all `done` callbacks. Trim the history afterwards,
     * so that no watch misses a change. */
    store_watches_deliver(store);
    trim_history(store);
}

/* Stores objects with revisions in SQLite and in memory, and delivers their changes to watches.
 *
 * Reads use only memory, never the disk. A write is checked and gets its revision on the loop
 * thread, so that the caller can put the revision into the data. The writer thread of the store
 * commits the queued writes in batches, each in one transaction. After the commit, the writes are
 * visible to reads and watches, and `done` is called. If a commit fails, all writes of the
 * transaction and all queued writes fail. After any failure except a full disk, the store refuses
 * writes until it is reopened.
 *
 * The store reserves some disk space (store_reserve.h). When almost no other space is left, the
 * disk counts as full, and the store accepts only deletions and writes that prepare a deletion
 * (store_put_reserved()). It accepts all writes again when there is space.
 *
 * All functions must be called on the loop thread, and all callbacks run there.
 *
 * In memory, one of several similar objects is kept completely, and the others as their differences
 * to it.
 *
 * Keys are paths: "/pods/default/mnist-worker-0". Values are bytes that the store does not
 * interpret.
 *
 * The database has one row per change, with checksums. A damaged row is never returned by reads and
 * never removed automatically. store_damage() reports it, and `trainyard check` shows and repairs
 * it. */
#ifndef TRAINYARD_STORE_STORE_H
#define TRAINYARD_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VALUE_MAX = 64 * 1024 * 1024 };

/* One version of an object. Readers and watches share it by references. Only `references` and
 * `verdict` ever change. */
struct store_object {
    int references;
    /* engine/stored/stored.c caches here whether the data can be read; initially 0. The store does
     * not use this member. Only the loop thread may use it. */
    unsigned char verdict;
    int64_t revision;        /* revision of this version */
    int64_t create_revision; /* revision of the object's first version */
    const char *key;
    size_t size; /* size of the data in bytes */

    /* The data itself, or its difference to the data of `base` (see delta.h). */
    struct store_object *base; /* NULL: `kept` is the data itself */
    const char *kept;
    size_t kept_size;
};
struct store_object *store_object_ref(struct store_object *object);
void store_object_unref(struct store_object *object); /* NULL-safe */

/* Returns the data: `size` bytes, then a NUL. The pointer is valid while both the object and the
 * arena exist. */
const char *store_object_data(const struct store_object *object, struct arena *arena);

struct store;

struct store_options {
    /* Path of the database file; NULL: in memory only, for tests and simulation. */
    const char *path;
    int64_t history_max; /* maximum number of changes kept for watches that start in the past; 0:
                            10000 */
    /* Maximum number of bytes of superseded and deleted versions in the history; 0: 8 MiB. */
    int64_t history_bytes_max;
    size_t damage_max; /* maximum number of damaged rows that store_damage() lists; 0: 16 */
    /* Called with an error when the disk becomes full, and with NULL when there is space again.
     * Refused writes return the same error. Called from the loop or from within store_open(). May
     * be NULL. */
    void (*on_full)(void *context, const struct err *err);
    void *on_full_context;
};

/* Opens or creates the store and loads all objects. Blocks until they are loaded. Returns 0, or an
 * error as described at store_disk_open(). */
int store_open(struct loop *loop, const struct store_options *options, struct store **ret,
               struct err *err);
/* Starts to close the store and returns at once. The queued writes are still committed. Then the
 * store is freed, and `closed`, which may be NULL, is called on the loop thread. */
void store_close(struct store *store, void (*closed)(void *context), void *context);

/* The effect of a damaged row on its object. */
enum store_damage_effect {
    STORE_DAMAGE_SUPERSEDED, /* a newer change of the object is intact or is a proven deletion, so
                                nothing is missing */
    STORE_DAMAGE_DELETED, /* the row proves that the object was deleted, so the object stays deleted
                           */
    STORE_DAMAGE_OLDER,   /* the newest version is damaged; reads return an older version */
    STORE_DAMAGE_MISSING, /* no version is intact; reads do not find the object */
    STORE_DAMAGE_UNKNOWN, /* it is unknown to which object the row belongs */
};

struct store_damaged_row {
    int64_t revision;
    /* The key of the object. If the effect is STORE_DAMAGE_UNKNOWN, the key in the damaged row,
     * made printable. */
    char *key;
    bool deleted; /* the row is a deletion; not proven if the effect is STORE_DAMAGE_UNKNOWN */
    enum store_damage_effect effect;
    /* Revision of the change that is valid instead of this row; 0: none. */
    int64_t valid_revision;
};

struct store_damage {
    size_t count;                   /* number of damaged rows */
    struct store_damaged_row *rows; /* the first `rows_count` damaged rows */
    size_t rows_count;
    /* Revisions of the first and the last of the acknowledged changes that are missing in the
     * database; 0: none is missing. */
    int64_t lost_first, lost_last;
    /* Path of the copy of a damaged write-ahead log; NULL: there is no such copy. */
    const char *log_copy;
    size_t log_frame; /* number of the first invalid frame of the log, from 1; 0: none */
};

/* Returns the damage that store_open() found. The pointer is valid until the store is freed. */
const struct store_damage *store_damage(const struct store *store);
bool store_is_damaged(const struct store *store);

/* Calls `line` for each line of a description of the damage: "revision 7 of '/pods/default/a' is
 * damaged: …". `text` is valid only during the call of `line`. */
void store_damage_describe(const struct store_damage *damage,
                           void (*line)(void *context, const char *text), void *context);

int64_t store_revision(const struct store *store); /* revision of the newest committed change */

/* Returns a new reference to the newest committed version, or NULL if the object does not exist. */
struct store_object *store_get(struct store *store, const char *key);

/* Like store_get(), but includes writes that are not committed yet. The next write is checked
 * against this version. Returns NULL if the object is absent or its deletion is pending. */
struct store_object *store_get_pending(struct store *store, const char *key);

/* Gets all committed objects whose key starts with `prefix`, in key order. Returns their number.
 * The caller unrefs the objects and frees the array. */
size_t store_list(struct store *store, const char *prefix, struct store_object ***ret_objects);

/* Like store_list(), but only for keys after `after`. Used for pagination. */
size_t store_list_after(struct store *store, const char *prefix, const char *after,
                        struct store_object ***ret_objects);

/* Returns whether the history has every change after revision `since`, so that a watch can start
 * there. */
bool store_remembers(const struct store *store, int64_t since);

/* Returns 0, or the error with which store_put() refuses all writes because of the disk.
 * -ERR_UNAVAILABLE: a commit has failed. -ERR_IO with err->sys ENOSPC: the disk is full, and
 * deletions are still accepted. */
int store_check(const struct store *store, struct err *err);

/* Returns the revision that the next store_put() or store_delete() gets. */
int64_t store_next_revision(const struct store *store);

/* Called once: with err NULL when the change is committed, or with an error when the change is
 * lost. `object` is the version that store_put() or store_delete() created. It is valid during the
 * call; the callee takes a reference to keep it. */
typedef void store_done(void *context, const struct store_object *object, const struct err *err);

/* Creates or replaces an object. To create, `expected` is 0. To replace, `expected` is the revision
 * of the object that store_get_pending() returns. Copies the data. `done` may be NULL. Returns 0;
 * -ERR_EXISTS, -ERR_CONFLICT or -ERR_NOT_FOUND if `expected` does not match; or another error if
 * the store refuses the write. `done` is called only if 0 is returned. */
int store_put(struct store *store, const char *key, const void *data, size_t size, int64_t expected,
              store_done *done, void *context, struct err *err);

/* Like store_put(), but for a write that prepares a deletion, such as setting deletionTimestamp. If
 * the disk is full, it may use the space that is reserved for deletions. */
int store_put_reserved(struct store *store, const char *key, const void *data, size_t size,
                       int64_t expected, store_done *done, void *context, struct err *err);

/* Deletes an object. `data` is what watches get: the last version of the object, with the revision
 * of the deletion as its resourceVersion. `expected` must not be 0. Returns like store_put(). */
int store_delete(struct store *store, const char *key, const void *data, size_t size,
                 int64_t expected, store_done *done, void *context, struct err *err);

enum store_event_type { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };

/* A change. `previous` is the version before the change (NULL for STORE_ADDED). A watch with a
 * selector needs it to detect that an object no longer matches. */
struct store_event {
    enum store_event_type type;
    struct store_object *object;
    struct store_object *previous;
};

struct store_watch;
typedef void store_watch_callback(void *context, const struct store_event *event);

/* Calls `callback` for every change of a key with this prefix after revision `since`, in order and
 * exactly once: first for the changes in the history, then for new changes. If `since` is -1, only
 * new changes are delivered. The callback is called from the loop, never from within this function.
 * Returns 0, -ERR_EXPIRED if the history does not contain all changes after `since`, or
 * -ERR_BAD_REQUEST if `since` is below -1. */
int store_watch(struct store *store, const char *prefix, int64_t since,
                store_watch_callback *callback, void *context, struct store_watch **ret,
                struct err *err);
void store_watch_stop(struct store_watch *watch); /* frees the watch; the callback is not called
                                                     after this; NULL-safe */

#endif

/* Objects with revisions on SQLite, also held in memory, with watches.
 *
 * Reads never touch the disk. A write is checked and gets its revision on the loop thread, so that
 * the caller can put the revision into the bytes. The store's own thread commits all queued writes
 * in one transaction. Only then are the writes visible to reads and watches, and only then is
 * `done` called. If a commit fails, all writes that are queued with it or behind it fail too, and
 * the store refuses writes until it is reopened.
 *
 * A full disk is not such a failure. The store reserves some disk space (store_reserve.h): when no
 * other space is left, it accepts only writes that delete, and accepts all writes again as soon as
 * there is space.
 *
 * All functions must be called on the loop thread, and all callbacks run there.
 *
 * Of objects that are similar, memory holds one whole and the differences of the others.
 *
 * Keys are paths: "/pods/default/mnist-worker-0". Values are bytes that the store does not
 * interpret.
 *
 * Each row on disk has checksums. A damaged row is never served and never removed: it stays in the
 * database, store_damage() reports it, and `trainyard check` shows and repairs it. */
#ifndef TRAINYARD_STORE_STORE_H
#define TRAINYARD_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VALUE_MAX = 64 * 1024 * 1024 };

/* One version of an object: immutable, with a reference count, shared by readers and watches. */
struct store_object {
    int references;
    /* A result that a reader of the data caches here; 0 at first. The store does not use it. Like
     * the reference count, it belongs to the loop thread. */
    unsigned char verdict;
    int64_t revision;        /* revision of this version */
    int64_t create_revision; /* revision of the object's first version */
    const char *key;
    size_t size; /* bytes of the data */

    /* The data, whole or as a difference to `base`. */
    struct store_object *base; /* NULL: `kept` is the whole data */
    const char *kept;
    size_t kept_size;
};
struct store_object *store_object_ref(struct store_object *object);
void store_object_unref(struct store_object *object); /* NULL-safe */

/* The data: `size` bytes and a NUL behind them. Valid as long as both the object and the arena
 * live. */
const char *store_object_data(const struct store_object *object, struct arena *arena);

struct store;

struct store_options {
    /* Path of the database file; NULL: in memory only, for tests and simulation. */
    const char *path;
    int64_t history_max; /* number of changes kept for watches that start in the past; 0: 10000 */
    /* Limit of the bytes of superseded and deleted versions that the history keeps; 0: 8 MiB. */
    int64_t history_bytes_max;
    size_t damage_max; /* number of damaged rows that store_damage() describes; 0: 16 */
    /* Called when the disk becomes full, with the error that refused writes get, and with NULL when
     * there is space again. Called from the loop, and from within store_open(). May be NULL. */
    void (*on_full)(void *context, const struct err *err);
    void *on_full_context;
};

int store_open(struct loop *loop, const struct store_options *options, struct store **ret,
               struct err *err);
/* Commits the queued writes, then calls `closed`. */
void store_close(struct store *store, void (*closed)(void *context), void *context);

/* The effect of a damaged row on its object. */
enum store_damage_effect {
    STORE_DAMAGE_SUPERSEDED, /* a newer change of the object is intact: nothing is missing */
    STORE_DAMAGE_DELETED,    /* the row proves that the object was deleted, and it stays deleted */
    STORE_DAMAGE_OLDER,      /* the newest version is damaged: the version before it is served */
    STORE_DAMAGE_MISSING,    /* the only version is damaged: the object is not served */
    STORE_DAMAGE_UNKNOWN,    /* the object of the row is unknown */
};

struct store_damaged_row {
    int64_t revision;
    /* Key of the object, printable; with STORE_DAMAGE_UNKNOWN the key that the row has. */
    char *key;
    bool deleted;
    enum store_damage_effect effect;
    int64_t counts; /* revision of the change that is used instead; 0: none */
};

struct store_damage {
    size_t count;                   /* number of damaged rows */
    struct store_damaged_row *rows; /* the first `rows_count` of them */
    size_t rows_count;
    /* Range of acknowledged changes that are not in the database; 0: none. */
    int64_t lost_first, lost_last;
    /* Path of the copy of a damaged write-ahead log; NULL: the log was intact. */
    const char *log_copy;
    size_t log_frame; /* the first invalid frame of the log */
};

/* The damage found when the store was opened. Valid until the store is closed. */
const struct store_damage *store_damage(const struct store *store);
bool store_is_damaged(const struct store *store);

/* Describes the damage in lines for a log or a terminal: "revision 7 of '/pods/default/a' is
 * damaged: …". */
void store_damage_describe(const struct store_damage *damage,
                           void (*line)(void *context, const char *text), void *context);

int64_t store_revision(const struct store *store); /* revision of the newest committed change */

/* The newest committed version as a new reference, or NULL. */
struct store_object *store_get(struct store *store, const char *key);

/* The newest version, including writes that are not committed yet: the next write is checked
 * against it. A new reference, or NULL if it is absent or deleted. */
struct store_object *store_get_pending(struct store *store, const char *key);

/* All committed objects whose key starts with `prefix`, in key order. Returns their number. The
 * caller drops the references and frees the array. */
size_t store_list(struct store *store, const char *prefix, struct store_object ***ret_objects);

/* Like store_list(), but starts after key `after`. Used for pagination. */
size_t store_list_after(struct store *store, const char *prefix, const char *after,
                        struct store_object ***ret_objects);

/* Whether the history has every change after revision `since`, so that a watch can start there. */
bool store_remembers(const struct store *store, int64_t since);

/* Returns 0 if writes are accepted, else the error that they are refused with. If the disk is full
 * (-ERR_IO with ENOSPC), writes that delete are accepted all the same. */
int store_check(const struct store *store, struct err *err);

/* The revision that the next store_put() or store_delete() gets. */
int64_t store_next_revision(const struct store *store);

/* Called once, when the change is on disk (err is NULL) or lost (err). `object` is the new version;
 * for a delete, the last one. */
typedef void store_done(void *context, const struct store_object *object, const struct err *err);

/* Creates an object (`expected` 0: it must not exist) or replaces it (`expected` is the revision of
 * the pending version). A mismatch returns -ERR_EXISTS, -ERR_CONFLICT or -ERR_NOT_FOUND at once,
 * and `done` is not called. The data is copied. */
int store_put(struct store *store, const char *key, const void *data, size_t size, int64_t expected,
              store_done *done, void *context, struct err *err);

/* Like store_put(), for a write that prepares a deletion, such as setting deletionTimestamp: it may
 * use the space that is reserved for deletions when the disk is full. */
int store_put_reserved(struct store *store, const char *key, const void *data, size_t size,
                       int64_t expected, store_done *done, void *context, struct err *err);

/* Deletes an object. `data` is the last state that watches get, with its final resourceVersion. */
int store_delete(struct store *store, const char *key, const void *data, size_t size,
                 int64_t expected, store_done *done, void *context, struct err *err);

enum store_event_type { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };

/* A change. `previous` is the version before it (NULL for STORE_ADDED), so that a watch with a
 * selector can tell that an object left its set. */
struct store_event {
    enum store_event_type type;
    struct store_object *object;
    struct store_object *previous;
};

struct store_watch;
typedef void store_watch_callback(void *context, const struct store_event *event);

/* Delivers every change after revision `since` under the prefix, in order and once each: first
 * those of the history, then new ones. The callback is called from the loop, never from within this
 * function. `since` -1 means from now on. Returns -ERR_EXPIRED if the history does not reach back
 * so far. */
int store_watch(struct store *store, const char *prefix, int64_t since,
                store_watch_callback *callback, void *context, struct store_watch **ret,
                struct err *err);
void store_watch_stop(struct store_watch *watch); /* no change is delivered any more; NULL-safe */

#endif

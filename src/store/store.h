/* Revisioned objects on SQLite, with every object in memory as well and a watch on each change.
 *
 * Reads never touch the disk. A write is checked and given its revision on the loop's thread, so
 * that the caller can put the revision into the bytes; it is committed by the store's own thread,
 * all that is queued in one transaction, and only then is it visible to reads and watches and is
 * its caller told. A commit that fails fails every write queued with or behind it, and the store
 * says so until it is reopened.
 *
 * A full disk is no such failure. The store keeps some room for itself (store_reserve.h): when no
 * other is left it takes only writes that delete, and goes on by itself when there is room again.
 *
 * Everything here is called on the loop's thread, and calls back there.
 *
 * Of objects that are much alike memory holds one whole, and of the others what is different.
 *
 * Keys are paths: "/pods/default/mnist-worker-0". Values are bytes the store does not look into.
 *
 * Each row on disk has checksums. A damaged row is never served and never removed: it stays where
 * it is, store_damage() reports it, and `trainyard check` shows and repairs it.
 */
#ifndef TRAINYARD_STORE_STORE_H
#define TRAINYARD_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VALUE_MAX = 64 * 1024 * 1024 };

/* Immutable, refcounted: what readers and watchers share. */
struct store_object {
    int references;
    /* What a reader of the data found out about it; 0 at first. The store does not look at it. Like
     * the references it belongs to the loop's thread. */
    unsigned char verdict;
    int64_t revision;        /* of this version */
    int64_t create_revision; /* of the first version */
    const char *key;
    size_t size; /* of its data */

    /* How the data is kept: whole, or as what it has beside another object's. */
    struct store_object *base; /* NULL: whole */
    const char *kept;
    size_t kept_size;
};
struct store_object *store_object_ref(struct store_object *object);
void store_object_unref(struct store_object *object); /* NULL-safe */

/* Its `size` bytes and a NUL behind them, for as long as both the object and the arena live. */
const char *store_object_data(const struct store_object *object, struct arena *arena);

struct store;

struct store_options {
    const char *path;    /* of the database file; NULL: in memory, for tests and simulation */
    int64_t history_max; /* changes kept for watches that start in the past; 0: 10000 */
    /* … and of what they superseded or deleted at most so many bytes; 0: 8 MiB. */
    int64_t history_bytes_max;
    size_t damage_max; /* damaged rows that store_damage() describes; 0: 16 */
    /* Called when the disk becomes full, with the error that writes are refused with, and with NULL
     * when there is room again: from the loop, and by store_open() itself. May be NULL. */
    void (*on_full)(void *context, const struct err *err);
    void *on_full_context;
};

int store_open(struct loop *loop, const struct store_options *options, struct store **ret,
               struct err *err);
/* Commits what is queued, then calls `closed`. */
void store_close(struct store *store, void (*closed)(void *context), void *context);

/* What a damaged row means for its object. */
enum store_damage_effect {
    STORE_DAMAGE_SUPERSEDED, /* a newer change of the object is intact: nothing is missing */
    STORE_DAMAGE_DELETED,    /* the row proves that the object was deleted, and it stays deleted */
    STORE_DAMAGE_OLDER,      /* the newest version is damaged: the one before it is served */
    STORE_DAMAGE_MISSING,    /* the only version is damaged: the object is not served */
    STORE_DAMAGE_UNKNOWN,    /* it is not known which object the row belongs to */
};

struct store_damaged_row {
    int64_t revision;
    char *key; /* of the object; with STORE_DAMAGE_UNKNOWN as the row has it; printable */
    bool deleted;
    enum store_damage_effect effect;
    int64_t counts; /* the change of the object that counts instead; 0: none */
};

struct store_damage {
    size_t count;                   /* damaged rows */
    struct store_damaged_row *rows; /* the first of them */
    size_t rows_count;
    int64_t lost_first, lost_last; /* acknowledged changes that are not in the database; 0: none */
    const char *log_copy;          /* a damaged write-ahead log, kept here; NULL: it was fine */
    size_t log_frame;              /* its first frame that is not valid */
};

/* What was found when the store was opened. Valid until it is closed. */
const struct store_damage *store_damage(const struct store *store);
bool store_is_damaged(const struct store *store);

/* Says it in lines for a log or a terminal: "revision 7 of '/pods/default/a' is damaged: …". */
void store_damage_describe(const struct store_damage *damage,
                           void (*line)(void *context, const char *text), void *context);

int64_t store_revision(const struct store *store); /* of the newest committed change */

/* The newest committed version; a new reference or NULL. */
struct store_object *store_get(struct store *store, const char *key);

/* The newest version including writes not yet committed: what the next write will be checked
 * against. NULL when absent or deleted. */
struct store_object *store_get_pending(struct store *store, const char *key);

/* All committed objects whose key starts with `prefix`, in key order, as references (malloc'ed
 * array). */
size_t store_list(struct store *store, const char *prefix, struct store_object ***ret_objects);

/* Like store_list(), but starts after key `after`. Used for pagination. */
size_t store_list_after(struct store *store, const char *prefix, const char *after,
                        struct store_object ***ret_objects);

/* Whether every change after revision `since` is still known, so that a watch can begin there. */
bool store_remembers(const struct store *store, int64_t since);

/* Whether writes are taken: 0, or the error that they are refused with. Those that delete are taken
 * also where the error is that of a full disk: ERR_IO with ENOSPC. */
int store_check(const struct store *store, struct err *err);

/* The revision the next store_put() or store_delete() will get. */
int64_t store_next_revision(const struct store *store);

/* Called once, when the change is on disk (err NULL) or lost (err). `object` is the new version, or
 * for a delete the last one. */
typedef void store_done(void *context, const struct store_object *object, const struct err *err);

/* Create (expected 0: must not exist) or replace (expected: the pending version's revision). A
 * mismatch is ERR_EXISTS or ERR_CONFLICT or ERR_NOT_FOUND at once, and `done` is not called. The
 * data is copied. */
int store_put(struct store *store, const char *key, const void *data, size_t size, int64_t expected,
              store_done *done, void *context, struct err *err);

/* The same for a write that brings a deletion forward, such as the mark that an object is to be
 * deleted: it may use the room that is kept for deletions when the disk is full. */
int store_put_reserved(struct store *store, const char *key, const void *data, size_t size,
                       int64_t expected, store_done *done, void *context, struct err *err);

/* Delete; `data` is the last state watchers are shown (with its final resourceVersion). */
int store_delete(struct store *store, const char *key, const void *data, size_t size,
                 int64_t expected, store_done *done, void *context, struct err *err);

enum store_event_type { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };

/* `previous` is the version before (NULL for ADDED), so that selectors can tell what left their
 * set. */
struct store_event {
    enum store_event_type type;
    struct store_object *object;
    struct store_object *previous;
};

struct store_watch;
typedef void store_watch_callback(void *context, const struct store_event *event);

/* Every change after revision `since` under the prefix: first those of history, then live, in
 * order, each once; delivered from the loop, never from within this call. since -1: from now.
 * ERR_EXPIRED if history does not reach back so far. */
int store_watch(struct store *store, const char *prefix, int64_t since,
                store_watch_callback *callback, void *context, struct store_watch **ret,
                struct err *err);
void store_watch_stop(struct store_watch *watch); /* nothing is delivered any more */

#endif

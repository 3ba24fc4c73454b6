/* Declarations that only the files of store/ use. */
#ifndef TRAINYARD_STORE_STORE_INTERNAL_H
#define TRAINYARD_STORE_STORE_INTERNAL_H

#include "base/list.h"
#include "store/key_index.h"
#include "store/store.h"
#include "store/store_history.h"
#include "store/store_writer.h"

/* Creates an object with one reference. Copies key and data. `sibling` is an object that may be
 * similar, such as the previous version, or NULL. */
struct store_object *store_object_new(const char *key, const void *data, size_t size,
                                      int64_t revision, int64_t create_revision,
                                      struct store_object *sibling);

/* The entry of a key in the index. It exists while the object exists or has a pending write. */
struct store_entry {
    struct store_object *committed; /* the newest committed version; NULL: there is none */
    struct store_object *newest; /* the version after all pending writes; NULL: absent or deleted */
    size_t pending;              /* number of pending writes of this key */
};

struct store {
    struct loop *loop;
    struct store_disk *disk; /* NULL: in memory only */
    struct store_writer writer;
    struct loop_timer alive; /* keeps the loop running while the writer thread works */
    struct key_index index;  /* struct store_entry by key */
    struct store_history history;
    int64_t history_max, history_bytes_max;
    int64_t next_revision;
    struct store_damage damage;
    size_t damage_max;
    size_t pending;     /* number of pending writes of all keys */
    struct err failure; /* the error of a failed commit; code ERR_NONE: no commit has failed */
    bool full;          /* the disk is full: only deletions and store_put_reserved() are accepted */
    struct loop_timer refill; /* runs while the disk is full, to check whether there is space */
    void (*on_full)(void *context, const struct err *err);
    void *on_full_context;
    void (*closed)(void *context);
    void *closed_context;
    bool closing; /* store_close() was called */

    /* Watches in the order of their creation. */
    struct list_head watches; /* struct store_watch */
    struct loop_task deliver; /* runs store_watches_deliver() for a watch that starts in the past */
    bool delivering;          /* store_watches_deliver() is running, so no watch may be freed */
};

/* store_damage.c */

/* The object to which a damaged row belongs. */
struct store_owner {
    const char *key; /* memory of the row or of the index */
    bool deleted;    /* the row is the deletion of the object */
    bool is_proven;  /* false: `key` and `deleted` come from the damaged row and may be wrong */
};
struct store_owner store_damage_find_owner(const struct store *store, const struct store_row *row);
/* Counts a damaged row. Adds it to the list unless the list has damage_max rows already. */
void store_damage_add(struct store *store, const struct store_row *row,
                      const struct store_owner *owner);
/* Marks the listed damaged rows of this key as superseded by the change `revision`. That change is
 * newer than these rows, and it is intact or a proven deletion. */
void store_damage_supersede(struct store *store, const char *key, int64_t revision);
/* Returns whether a listed damaged row has this key, or some damaged rows are not listed. For a row
 * of an unknown object, the key in the row counts. */
bool store_damage_concerns(const struct store *store, const char *key);
/* Called when all rows are loaded. Completes store->damage: determines the effects of the damaged
 * rows, the lost changes and the damaged log. `last` is the last revision that was assigned. */
void store_damage_finish(struct store *store, int64_t last);
void store_damage_release(struct store_damage *damage);

/* store_watch.c */
void store_watches_init(struct store *store);
/* Delivers to each watch the changes of the history that it has not received yet. */
void store_watches_deliver(struct store *store);
/* Called when the store is freed. Watches may still be stopped afterwards. */
void store_watches_detach(struct store *store);

#endif

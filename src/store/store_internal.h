/* What the files of the store share and nobody else sees. */
#ifndef TRAINYARD_STORE_STORE_INTERNAL_H
#define TRAINYARD_STORE_STORE_INTERNAL_H

#include "base/list.h"
#include "store/key_index.h"
#include "store/store.h"
#include "store/store_history.h"
#include "store/store_writer.h"

/* A new object with one reference; key and data are copied. `sibling` may be much like it, or NULL:
 * its version before, a neighbour. */
struct store_object *store_object_new(const char *key, const void *data, size_t size,
                                      int64_t revision, int64_t create_revision,
                                      struct store_object *sibling);

/* What the index holds for a key, as long as it exists or a write of it is under way. */
struct store_entry {
    struct store_object *committed; /* NULL: absent, or not committed yet */
    struct store_object *newest;    /* with writes under way; NULL: absent or deleted */
    size_t pending;                 /* writes under way */
};

struct store {
    struct loop *loop;
    struct store_disk *disk; /* NULL: in memory */
    struct store_writer writer;
    struct loop_timer alive; /* keeps the loop running while the writer's thread works */
    struct key_index index;  /* key → struct store_entry */
    struct store_history history;
    int64_t history_max, history_bytes_max;
    int64_t next_revision;
    struct store_damage damage;
    size_t damage_max;
    size_t pending;     /* writes under way */
    struct err failure; /* code set: the store is failed, and why */
    bool full;          /* only what deletes is written */
    struct loop_timer refill;
    void (*on_full)(void *context, const struct err *err);
    void *on_full_context;
    void (*closed)(void *context);
    void *closed_context;
    bool closing;

    /* Watches, in the order they were made. */
    struct list_head watches; /* struct store_watch */
    struct loop_task deliver;
    bool delivering;
};

/* store_damage.c */

/* Which object a damaged row belongs to, and whether it deleted it. */
struct store_owner {
    const char *key;
    bool deleted;
    bool is_proven; /* else both are as the row has them */
};
struct store_owner store_damage_find_owner(const struct store *store, const struct store_row *row);
void store_damage_add(struct store *store, const struct store_row *row,
                      const struct store_owner *owner);
/* A later change of the key counts: the damaged rows of it so far do not matter any more. */
void store_damage_supersede(struct store *store, const char *key, int64_t revision);
/* Whether a damaged row may belong to the key. */
bool store_damage_concerns(const struct store *store, const char *key);
/* All rows are loaded: tell what the damaged ones mean. `last` is the last revision given. */
void store_damage_finish(struct store *store, int64_t last);
void store_damage_release(struct store_damage *damage);

/* store_watch.c */
void store_watches_init(struct store *store);
void store_watches_deliver(struct store *store); /* what history holds and each has not seen */
void store_watches_detach(struct store *store);  /* the store goes; stopping them stays allowed */

#endif

/* The variables of one server: its range of the dense vector, its rows of the tables, the counters
 * of the workers, and which workers have finished. Uses no socket and no file. Called by ps_server,
 * ps_handler, ps_snapshot and client_local. Checks all arguments, because they come from the
 * network or from a file. Used by one thread at a time. */
#ifndef TRAINYARD_COMM_PS_STORE_H
#define TRAINYARD_COMM_PS_STORE_H

#include "comm/ps/embedding_table.h"

struct ps_store;

/* `memory_max` limits the bytes of each table; 0: no limit. */
struct ps_store *ps_store_new(size_t memory_max);
struct ps_store *ps_store_free(struct ps_store *store);
DEFINE_CLEANUP(ps_store)

/* Removes all variables and counts. */
void ps_store_clear(struct ps_store *store);

/* Returns the number of changes so far. A new snapshot is needed only if this number has grown
 * since the last one. */
uint64_t ps_store_changes(const struct ps_store *store);

/* ---- The dense range */

struct ps_dense_shape {
    uint64_t total;        /* number of values of the whole vector */
    uint64_t first, count; /* the range of this server: position and number of values */
    struct ps_update update;
};

enum { PS_DENSE_MAX = 1 << 30 }; /* limit of values in the whole vector */

/* Fails with ERR_CONFLICT if the range is open with another shape. Sets *ret_seeded to whether the
 * range has values already. */
int ps_store_dense_open(struct ps_store *store, const struct ps_dense_shape *shape,
                        bool *ret_seeded, struct err *err);
/* Sets the initial values of the whole range. Has no effect if the range already has values. */
int ps_store_dense_seed(struct ps_store *store, const float *values, size_t count, struct err *err);
/* `first` counts from the start of the range of this server. *ret_values stays valid until the next
 * push. */
int ps_store_dense_pull(const struct ps_store *store, uint64_t first, size_t count,
                        const float **ret_values, struct err *err);
int ps_store_dense_push(struct ps_store *store, uint64_t first, size_t count, const float *gradient,
                        float rate, struct err *err);

/* ---- Tables */

/* Creates the table if `number` is the next free number. If table `number` exists already, its
 * shape must be equal to `table`. */
int ps_store_table_open(struct ps_store *store, size_t number, const struct ps_table *table,
                        struct err *err);
size_t ps_store_tables(const struct ps_store *store);
/* Returns NULL if no table has this number. */
struct embedding_table *ps_store_table(const struct ps_store *store, size_t number);
int ps_store_rows_pull(const struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       float *ret_rows, struct err *err);
int ps_store_rows_push(struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       const float *gradients, float rate, struct err *err);

/* ---- Workers: their counters, and which have finished. Each worker sends the total of its own
 * process. A counter is the sum of the totals of all worker processes of the run. So a total that
 * is sent twice, or again after a server has restored an old snapshot, is counted once. */

struct ps_tally {
    uint32_t worker; /* rank */
    uint32_t finished;
    uint64_t life; /* random number of the worker's process; a restarted worker has another */
    uint64_t totals[PS_COUNTERS];
};

int ps_store_count(struct ps_store *store, uint32_t worker, uint64_t life, uint64_t counter,
                   uint64_t total, uint64_t *ret, struct err *err);
void ps_store_set_finished(struct ps_store *store, uint32_t worker, bool finished);
bool ps_store_is_finished(const struct ps_store *store, uint32_t worker);
size_t ps_store_finished(const struct ps_store *store); /* the number of finished workers */

/* ---- For snapshots */

struct ps_store_view {
    struct ps_dense_shape dense; /* total 0: not open */
    bool seeded;
    float *values, *state;
    /* By counter: the sum of the totals of worker processes that were replaced by a restart. */
    uint64_t counted[PS_COUNTERS];
    const struct ps_tally *tallies;
    size_t tally_count;
};
struct ps_store_view ps_store_view(const struct ps_store *store);
void ps_store_restore_counts(struct ps_store *store, const uint64_t counted[PS_COUNTERS]);
void ps_store_restore_tally(struct ps_store *store, const struct ps_tally *tally);

#endif

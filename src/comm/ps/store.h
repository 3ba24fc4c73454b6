/* The variables of one server: its range of the dense vector, its rows of the tables, the counters
 * of the workers, and which workers have finished. Uses no socket and no file. Called by server*.c,
 * ps_handler, ps_snapshot and client_local. The functions with a parameter `err` check shapes,
 * ranges and numbers, because they come from the network or from a file. Used by one thread at a
 * time. */
#ifndef TRAINYARD_COMM_PS_STORE_H
#define TRAINYARD_COMM_PS_STORE_H

#include "comm/ps/embedding_table.h"

struct ps_store;

/* `memory_max` limits the bytes of each table (see embedding_table_new()); 0: no limit. */
struct ps_store *ps_store_new(size_t memory_max);
struct ps_store *ps_store_free(struct ps_store *store);
DEFINE_CLEANUP(ps_store)

/* Removes all variables and counts. */
void ps_store_clear(struct ps_store *store);

/* Returns the number of changes so far. A new snapshot is needed only if this number has grown
 * since the previous snapshot. */
uint64_t ps_store_changes(const struct ps_store *store);

/* ---- The dense range */

struct ps_dense_shape {
    uint64_t total;        /* number of values of the whole vector */
    uint64_t first, count; /* the range of this server: position and number of values */
    struct ps_update update;
};

enum { PS_DENSE_MAX = 1 << 30 }; /* limit of values in the whole vector */

/* Fails with ERR_CONFLICT if the range is open with another shape, and with ERR_INVALID if the
 * shape is invalid. Sets *ret_seeded to whether the range has values already. */
int ps_store_dense_open(struct ps_store *store, const struct ps_dense_shape *shape,
                        bool *ret_seeded, struct err *err);
/* Sets the initial values of the whole range. If the range already has values, changes nothing and
 * returns 0. */
int ps_store_dense_seed(struct ps_store *store, const float *values, size_t count, struct err *err);
/* For both functions `first` counts from the start of the range of this server. Both fail with
 * ERR_INVALID if the range has no values yet, or does not contain the requested values. *ret_values
 * points into the store: the next push changes the values. */
int ps_store_dense_pull(const struct ps_store *store, uint64_t first, size_t count,
                        const float **ret_values, struct err *err);
int ps_store_dense_push(struct ps_store *store, uint64_t first, size_t count, const float *gradient,
                        float rate, struct err *err);

/* ---- Tables */

/* Creates the table if `number` is the next free number. If table `number` exists already, fails
 * with ERR_CONFLICT unless its shape is equal to `table`. Fails with ERR_INVALID if a lower number
 * is free. */
int ps_store_table_open(struct ps_store *store, size_t number, const struct ps_table *table,
                        struct err *err);
size_t ps_store_table_count(const struct ps_store *store);
/* Returns NULL if no table has this number. */
struct embedding_table *ps_store_table(const struct ps_store *store, size_t number);
int ps_store_rows_pull(const struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       float *ret_rows, struct err *err);
int ps_store_rows_push(struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       const float *gradients, float rate, struct err *err);

/* ---- Workers: their counters, and which workers have finished. Each worker sends, per counter,
 * the total of what its process has added. The value of a counter is the sum of the totals of all
 * worker processes of the run. So a total that is sent twice, or again after a server has restored
 * an old snapshot, is counted once. */

/* The counters and the state of one worker. */
struct ps_tally {
    uint32_t worker;              /* rank */
    uint32_t finished;            /* 1: the worker has finished; 0: not */
    uint64_t incarnation;         /* random; a restarted process of the worker has another number */
    uint64_t totals[PS_COUNTERS]; /* by counter: the total of the current process */
};

/* Records that the total of the worker's process is at least `total`, and sets *ret to the value of
 * the counter. */
int ps_store_count(struct ps_store *store, uint32_t worker, uint64_t incarnation, uint64_t counter,
                   uint64_t total, uint64_t *ret, struct err *err);
void ps_store_set_finished(struct ps_store *store, uint32_t worker, bool finished);
bool ps_store_is_finished(const struct ps_store *store, uint32_t worker);
size_t ps_store_finished_count(const struct ps_store *store); /* the number of finished workers */

/* ---- For snapshots */

struct ps_store_view {
    struct ps_dense_shape dense; /* total 0: the dense range is not open */
    bool seeded;                 /* the dense range has values */
    float *values, *state;       /* the values of the dense range and their optimizer state */
    /* By counter: the sum of the totals of worker processes that were replaced by a restart. */
    uint64_t past_totals[PS_COUNTERS];
    const struct ps_tally *tallies; /* one per worker that has ever connected */
    size_t tally_count;
};
/* Returns pointers into the store, which are valid until the next change of the store. */
struct ps_store_view ps_store_view(const struct ps_store *store);
/* These two functions do not check their arguments. */
void ps_store_restore_counts(struct ps_store *store, const uint64_t past_totals[PS_COUNTERS]);
void ps_store_restore_tally(struct ps_store *store, const struct ps_tally *tally);

#endif

/* The variables of one server: its range of the dense vector, its rows of the tables, what the
 * workers have counted and who is done. Knows no socket and no file; used by ps_server, by
 * ps_snapshot, and by the client that has the variables inside its own process. Everything that
 * comes from outside is checked here. One thread at a time. */
#ifndef TRAINYARD_COMM_PS_STORE_H
#define TRAINYARD_COMM_PS_STORE_H

#include "comm/ps/embedding_table.h"

struct ps_store;

struct ps_store *ps_store_new(size_t memory_max); /* of each table; 0: no limit */
struct ps_store *ps_store_free(struct ps_store *store);
DEFINE_CLEANUP(ps_store)

void ps_store_clear(struct ps_store *store); /* as new */

/* Counts every change, so that who writes snapshots sees whether there is something to write. */
uint64_t ps_store_changes(const struct ps_store *store);

/* ---- The dense range */

struct ps_dense_shape {
    uint64_t total;        /* values of the whole vector */
    uint64_t first, count; /* those of this server */
    struct ps_update update;
};

enum { PS_DENSE_MAX = 1 << 30 }; /* values of the whole vector */

/* The same again is fine, another is ERR_CONFLICT. ret_seeded: it has values. */
int ps_store_dense_open(struct ps_store *store, const struct ps_dense_shape *shape,
                        bool *ret_seeded, struct err *err);
/* Its first values, all of them; later ones are not taken. */
int ps_store_dense_seed(struct ps_store *store, const float *values, size_t count, struct err *err);
/* Positions count from the start of this server's range. What is handed out lives until the next
 * push. */
int ps_store_dense_pull(const struct ps_store *store, uint64_t first, size_t count,
                        const float **ret_values, struct err *err);
int ps_store_dense_push(struct ps_store *store, uint64_t first, size_t count, const float *gradient,
                        float rate, struct err *err);

/* ---- Tables */

/* The next number makes it; a number that is there must mean the same table. */
int ps_store_table_open(struct ps_store *store, size_t number, const struct ps_table *table,
                        struct err *err);
size_t ps_store_tables(const struct ps_store *store);
/* NULL if there is none of that number. */
struct embedding_table *ps_store_table(const struct ps_store *store, size_t number);
int ps_store_rows_pull(const struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       float *ret_rows, struct err *err);
int ps_store_rows_push(struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       const float *gradients, float rate, struct err *err);

/* ---- Workers: what they counted, and who is done. Each worker tells its own total in this life of
 * its process, and the count is the sum over all workers and lives: a total told twice, or again
 * after a server came back with an old snapshot, neither counts twice nor is it lost. */

struct ps_tally {
    uint32_t worker; /* its rank */
    uint32_t finished;
    uint64_t life; /* a number drawn by each process */
    uint64_t totals[PS_COUNTERS];
};

int ps_store_count(struct ps_store *store, uint32_t worker, uint64_t life, uint64_t counter,
                   uint64_t total, uint64_t *ret, struct err *err);
void ps_store_set_finished(struct ps_store *store, uint32_t worker, bool finished);
bool ps_store_is_finished(const struct ps_store *store, uint32_t worker);
size_t ps_store_finished(const struct ps_store *store); /* how many are */

/* ---- For snapshots */

struct ps_store_view {
    struct ps_dense_shape dense; /* total 0: not open */
    bool seeded;
    float *values, *state;
    uint64_t counted[PS_COUNTERS]; /* in lives that are over */
    const struct ps_tally *tallies;
    size_t tally_count;
};
struct ps_store_view ps_store_view(const struct ps_store *store);
void ps_store_restore_counts(struct ps_store *store, const uint64_t counted[PS_COUNTERS]);
void ps_store_restore_tally(struct ps_store *store, const struct ps_tally *tally);

#endif

/* Parameter servers for any C program: variables that live in processes of their own, pulled and
 * pushed over TCP by workers that do not wait for each other. There is one dense vector, cut over
 * the servers, and there are tables of rows keyed by any int64 ids, one row an id. A gradient is
 * applied at the server, where the optimizer's state is.
 *
 * Every process describes the cluster (trainyard/tf_config.h). A ps calls ty_ps_serve(); chief and
 * workers open a ty_ps. With one worker and no ps the variables are inside the process, and the
 * same code runs.
 *
 * Pushes are answered later: their failure comes with the next call. A server that is lost is
 * waited for by name; it restores its last snapshot, and what had not been answered is sent again.
 * A push may so be applied twice, and what came after the snapshot is lost. Processes prove to each
 * other that they know the job secret, from the option, else from TRAINYARD_JOB_SECRET or the file
 * that TRAINYARD_JOB_SECRET_FILE names; without one, anybody who reaches the ports can join. The
 * data itself travels in the clear. A ty_ps is used by one thread at a time.
 */
#ifndef TRAINYARD_PS_H
#define TRAINYARD_PS_H

#include <trainyard/error.h>
#include <trainyard/tf_config.h>

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ty_ps;

enum { TY_PS_DIMENSIONS_MAX = 1024, TY_PS_TABLES_MAX = 64, TY_PS_IDS_MAX = 1 << 20 };

enum ty_ps_rule {
    TY_PS_SGD,     /* w -= rate·g */
    TY_PS_ADAGRAD, /* n += g²; w -= rate·g/√n */
};

struct ty_ps_update {
    enum ty_ps_rule rule;
    float accumulator; /* Adagrad: what n starts with; above 0 */
};

/* ---- Workers */

struct ty_ps_options {
    uint64_t shape;      /* hash of the model's shape; processes with another are refused */
    const char *secret;  /* NULL: from the environment */
    int join_timeout_ms; /* for all servers to come; 0: 5 minutes */
    int timeout_ms;      /* for a server that is lost later; 0: 5 minutes */
    int report_ms;       /* between lines about who is missing; 0: 5 seconds */
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* `options` may be NULL. Returns when every server is connected. */
int ty_ps_open(const struct ty_tf_config *config, const struct ty_ps_options *options,
               struct ty_ps **ret, struct ty_error *error);
void ty_ps_close(struct ty_ps *ps); /* NULL-safe */

/* The dense vector: every worker opens it with the same count. The values of the first to come are
 * the start, unless the servers have restored some. */
int ty_ps_dense_open(struct ty_ps *ps, size_t count, const float *initial,
                     const struct ty_ps_update *update, struct ty_error *error);
int ty_ps_dense_pull(struct ty_ps *ps, float *ret_values, struct ty_error *error);
int ty_ps_dense_push(struct ty_ps *ps, const float *gradient, float rate, struct ty_error *error);

/* A table. A row that nobody pushed to has values drawn uniformly from ±range by (seed, id) alone
 * and takes no memory. Numbers count from 0 in the order of opening, the same in all workers. */
struct ty_ps_table {
    int dimensions;
    float range;
    uint64_t seed;
    struct ty_ps_update update;
};
int ty_ps_table_open(struct ty_ps *ps, const struct ty_ps_table *table, int *ret_number,
                     struct ty_error *error);

/* `count` ids in any order, and count × dimensions values. An id that comes several times is sent
 * once; its gradients are added up and applied once. */
int ty_ps_rows_pull(struct ty_ps *ps, int table, const int64_t *ids, size_t count, float *ret_rows,
                    struct ty_error *error);
int ty_ps_rows_push(struct ty_ps *ps, int table, const int64_t *ids, size_t count,
                    const float *gradients, float rate, struct ty_error *error);

/* Every row that exists, in no order. */
int ty_ps_rows_scan(struct ty_ps *ps, int table,
                    void (*visit)(void *context, int64_t id, const float *row), void *context,
                    struct ty_error *error);

/* Returns when every push so far has been applied. */
int ty_ps_flush(struct ty_ps *ps, struct ty_error *error);
/* Every server that keeps snapshots writes one now; returns when they are on disk. */
int ty_ps_save(struct ty_ps *ps, struct ty_error *error);

/* Counts that all workers share and snapshots keep: adds, and returns the new value. */
enum ty_ps_counter { TY_PS_COUNTER_STEP, TY_PS_COUNTER_DONE };
int ty_ps_count(struct ty_ps *ps, enum ty_ps_counter counter, uint64_t add, uint64_t *ret,
                struct ty_error *error);

/* This worker is done for good: servers end when all workers have said so. */
int ty_ps_finish(struct ty_ps *ps, struct ty_error *error);

/* ---- Servers */

struct ty_ps_server_options {
    uint64_t shape;
    const char *secret;
    const char *directory;             /* of snapshots; NULL: none are kept */
    int snapshot_every_ms;             /* 0: a minute */
    size_t table_memory_max;           /* bytes a table may take; 0: no limit */
    const volatile sig_atomic_t *stop; /* not 0: write a snapshot and end; may be NULL */
    void (*report)(void *context, const char *line); /* who joined, what was saved; or NULL */
    void *context;
};

/* `options` may be NULL. Returns when every worker has finished, or when stopped. */
int ty_ps_serve(const struct ty_tf_config *config, const struct ty_ps_server_options *options,
                struct ty_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* Parameter servers for any C program: processes that keep the variables of a model. Workers pull
 * values and push gradients over TCP, without waiting for other workers. There is one dense vector,
 * cut into one range per server, and there are tables of rows, one row per int64 id. The server
 * applies the gradients, and keeps the state of the optimizer.
 *
 * Every process describes the cluster (trainyard/tf_config.h). A process with the role ps calls
 * ty_ps_serve(); a chief or worker opens a ty_ps. With one worker and no ps, the variables are in
 * the memory of the worker, and the same calls work, but there are no snapshots. A ty_ps must be
 * used by one thread at a time.
 *
 * A push may return before the server has applied the gradients. If the server then refuses them, a
 * later call returns the error. If a server is lost, the worker waits for it up to `timeout_ms` and
 * reports its name. The restarted server restores its last snapshot, and the worker sends all
 * unanswered requests again. So a push may be applied twice, and pushes that were applied after the
 * snapshot are lost.
 *
 * Processes prove to each other that they know the job secret. The secret comes from the option
 * `secret`, or else from TRAINYARD_JOB_SECRET or the file named by TRAINYARD_JOB_SECRET_FILE.
 * Without a secret, any process that reaches the ports can join. The data is not encrypted. */
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

enum { TY_PS_DIMENSIONS_MAX = 1024, TY_PS_TABLES_MAX = 64, TY_PS_IDS_MAX = 1 << 20 /* per call */ };

enum ty_ps_rule {
    TY_PS_SGD,     /* w -= rate·g */
    TY_PS_ADAGRAD, /* n += g²; w -= rate·g/√n */
};

struct ty_ps_update {
    enum ty_ps_rule rule;
    float accumulator; /* Adagrad: the initial value of n, above 0 */
};

/* ---- Workers */

struct ty_ps_options {
    uint64_t shape;      /* hash of the model's shape; processes with another shape are refused */
    const char *secret;  /* NULL: from the environment */
    int join_timeout_ms; /* limit for the wait for all servers; 0: 5 minutes */
    /* Limit for the wait for a server that is lost later, or that does not answer; 0: 5 minutes. */
    int timeout_ms;
    int report_ms; /* interval between reports about missing servers; 0: 5 seconds */
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* `options` may be NULL. Returns when every server is connected. The caller closes *ret with
 * ty_ps_close(). */
int ty_ps_open(const struct ty_tf_config *config, const struct ty_ps_options *options,
               struct ty_ps **ret, struct ty_error *error);
void ty_ps_close(struct ty_ps *ps); /* NULL-safe */

/* The dense vector of `count` floats. Every worker opens it once, with the same count and the same
 * update rule. Each server takes the initial values of its range from the first worker that has
 * sent all of them, unless the server has restored a snapshot. `initial`, `ret_values` and
 * `gradient` have `count` floats. */
int ty_ps_dense_open(struct ty_ps *ps, size_t count, const float *initial,
                     const struct ty_ps_update *update, struct ty_error *error);
int ty_ps_dense_pull(struct ty_ps *ps, float *ret_values, struct ty_error *error);
int ty_ps_dense_push(struct ty_ps *ps, const float *gradient, float rate, struct ty_error *error);

/* A table. A row exists from the first push to it on. A row that does not exist takes no memory;
 * its values are random numbers between -range and range, which depend only on seed, id and range.
 * Tables are numbered from 0 in the order of opening, which must be the same in all workers. */
struct ty_ps_table {
    int dimensions;
    float range;
    uint64_t seed;
    struct ty_ps_update update;
};
int ty_ps_table_open(struct ty_ps *ps, const struct ty_ps_table *table, int *ret_number,
                     struct ty_error *error);

/* ty_ps_rows_pull() sets ret_rows to the rows of `count` ids; ty_ps_rows_push() sends the gradients
 * of such rows. Both arrays have count × dimensions floats. The ids may be in any order. A repeated
 * id is sent once; its gradients are added up, and the sum is applied once. */
int ty_ps_rows_pull(struct ty_ps *ps, int table, const int64_t *ids, size_t count, float *ret_rows,
                    struct ty_error *error);
int ty_ps_rows_push(struct ty_ps *ps, int table, const int64_t *ids, size_t count,
                    const float *gradients, float rate, struct ty_error *error);

/* Calls `visit` for every row that exists, in no particular order. `row` has `dimensions` floats
 * and is valid only during the call of `visit`. */
int ty_ps_rows_scan(struct ty_ps *ps, int table,
                    void (*visit)(void *context, int64_t id, const float *row), void *context,
                    struct ty_error *error);

/* Returns 0 when the servers have applied every push of this process. Fails if a server refused one
 * of them. */
int ty_ps_flush(struct ty_ps *ps, struct ty_error *error);
/* Makes every server that has a snapshot directory write a snapshot, unless its previous snapshot
 * has all changes. Returns when all snapshots are on disk. Without servers it does nothing and
 * returns 0. */
int ty_ps_save(struct ty_ps *ps, struct ty_error *error);

/* Adds `add` to a counter that all workers share, and stores the new value in *ret. The counters
 * are meant for global steps and for workers that have reached the end of their training; a server
 * only adds. Snapshots include the counters. If the call fails, its `add` is not lost: the next
 * call for the counter adds it too. To try again, call with `add` 0. */
enum ty_ps_counter { TY_PS_COUNTER_STEP, TY_PS_COUNTER_DONE };
int ty_ps_count(struct ty_ps *ps, enum ty_ps_counter counter, uint64_t add, uint64_t *ret,
                struct ty_error *error);

/* Tells the servers that this worker has finished. A server ends when the chief and all workers
 * have finished. */
int ty_ps_finish(struct ty_ps *ps, struct ty_error *error);

/* ---- Servers */

struct ty_ps_server_options {
    uint64_t shape;          /* the same as in the workers */
    const char *secret;      /* NULL: from the environment */
    const char *directory;   /* directory of the snapshots; NULL: no snapshots */
    int snapshot_every_ms;   /* interval between snapshots of changes; 0: 1 minute */
    size_t table_memory_max; /* limit of bytes per table in this server; 0: no limit */
    /* When *stop is nonzero, the server saves unsaved changes, if it has a directory, and ends. May
     * be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* Runs the server of this process. `options` may be NULL. Returns 0 when the chief and all workers
 * have finished, or when *stop is nonzero and the server has ended. */
int ty_ps_serve(const struct ty_tf_config *config, const struct ty_ps_server_options *options,
                struct ty_error *error);

#ifdef __cplusplus
}
#endif

#endif

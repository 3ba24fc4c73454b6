/* Parameter servers: processes that keep the variables of a model. Workers pull values and push
 * gradients, without waiting for other workers. There are two kinds of variables: one dense vector,
 * cut into one range per server, and tables of rows, one row per int64 id. The id decides which
 * server has the row. A server applies the gradients to its variables, and keeps the state of the
 * optimizer beside the values.
 *
 * A chief or worker uses a ps_client; a ps process calls ps_server_run(). In a cluster of one
 * worker without ps, the client keeps the variables in its own memory and writes no snapshots. So
 * training code is the same for one process and for many. A cluster of several workers without ps
 * is refused, because the workers would train separate models. A client is used by one thread at a
 * time.
 *
 * A push may return before the server has applied the gradients. If the server then refuses them, a
 * later call returns the error. If a server is lost, the client waits for it up to `timeout_ms` and
 * reports its name. The restarted server restores its last snapshot, the client sends all
 * unanswered requests again, and training continues. So a push may be applied twice, and pushes
 * that were applied after the snapshot are lost. Asynchronous training tolerates both. */
#ifndef TRAINYARD_COMM_PS_PS_H
#define TRAINYARD_COMM_PS_PS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <trainyard/tf_config.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PS_DIMENSIONS_MAX = 1024, /* limit of values per row */
    PS_TABLES_MAX = 64,
    PS_IDS_MAX = 1 << 20, /* limit of ids per call */
};

enum ps_rule {
    PS_SGD,     /* w -= rate·g */
    PS_ADAGRAD, /* n += g²; w -= rate·g/√n */
};

struct ps_update {
    enum ps_rule rule;
    float accumulator; /* Adagrad: the initial value of n, above 0 */
};

/* ---- Workers */

struct ps_options {
    const struct ty_tf_config *config; /* this process must be the chief or a worker */
    uint64_t shape;                    /* hash of the model's shape; the same in all processes */
    const char *secret;      /* the job secret; NULL: from the environment (transport/secret.h) */
    int64_t join_timeout_ms; /* limit for the wait for all servers at the start; 0: 5 minutes */
    /* Limit for the wait for a server that is lost later, or that does not answer; 0: 5 minutes. */
    int64_t timeout_ms;
    /* Interval between reports about servers that are missing or do not answer; 0: 5 seconds. */
    int64_t report_ms;
    /* When *stop is nonzero, a call that waits for a missing server fails with ERR_CANCELED. A call
     * that waits for the answer of a connected server fails only after `report_ms` without data.
     * May be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of missing servers, and with NULL when no server is missing any more.
     * May be NULL. */
    void (*waiting)(void *context, const char *names);
    void *context;
};

struct ps_client;

/* Returns 0 when every server is connected. Fails with ERR_TIMEOUT if a server is missing after
 * `join_timeout_ms`. The caller frees *ret with ps_client_free(). */
int ps_client_open(const struct ps_options *options, struct ps_client **ret, struct err *err);
struct ps_client *ps_client_free(struct ps_client *client);
DEFINE_CLEANUP(ps_client)

/* Returns the number of servers, or 0 if the variables are in the memory of this process. */
size_t ps_client_servers(const struct ps_client *client);

/* The dense vector. Every worker opens it with the same count and the same update rule, and offers
 * initial values. Each server takes the initial values of its range from the first worker that has
 * sent all of them, unless the server has restored a snapshot. If a server has restarted without a
 * snapshot, the first worker that reconnects sends the values of its previous pull, or the initial
 * values if it has not pulled yet, and reports this. */
int ps_dense_open(struct ps_client *client, size_t count, const float *initial,
                  const struct ps_update *update, struct err *err);
int ps_dense_pull(struct ps_client *client, float *ret_values, struct err *err);
int ps_dense_push(struct ps_client *client, const float *gradient, float rate, struct err *err);

/* A table. A row that was never pushed to takes no memory. Its initial values are random numbers
 * between -range and range, which depend only on seed, id and range. The first push creates the
 * row. Tables are numbered from 0 in the order in which they are opened, which must be the same in
 * all workers. */
struct ps_table {
    int dimensions; /* values per row */
    float range;
    uint64_t seed;
    struct ps_update update;
};
int ps_table_open(struct ps_client *client, const struct ps_table *table, int *ret_number,
                  struct err *err);

/* Pulls the rows of `count` ids, which may be in any order. A repeated id is sent once. ret_rows
 * has room for count × dimensions floats, in the order of `ids`. */
int ps_rows_pull(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, struct err *err);
/* Pushes the gradients of `count` ids. The gradients of a repeated id are added up and applied
 * once. */
int ps_rows_push(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 const float *gradients, float rate, struct err *err);

/* ps_rows_scan() calls `visit` for every row that exists, in no particular order, before it
 * returns. `row` has `dimensions` floats and is valid only during the call. For export. */
typedef void ps_visit(void *context, int64_t id, const float *row);
int ps_rows_scan(struct ps_client *client, int table, ps_visit *visit, void *context,
                 struct err *err);

/* Returns 0 when the servers have applied every push of this client. Fails if a server refused one
 * of them. */
int ps_flush(struct ps_client *client, struct err *err);
/* Makes every server that has a snapshot directory write a snapshot, unless its previous snapshot
 * has all changes. Returns when all snapshots are on disk. Without servers it does nothing and
 * returns 0. */
int ps_save(struct ps_client *client, struct err *err);

/* For callers that write their own checkpoints. ps_dense_get() and ps_rows_get() copy variables of
 * a client without servers, together with the state of their optimizer. ps_dense_put() and
 * ps_rows_put() set both, and ps_rows_put() creates missing rows. All four fail with
 * ERR_UNSUPPORTED if the client has servers. With Adagrad the state has one float per value; with
 * SGD there is no state, and the pointer to it may be NULL. A row that does not exist has its
 * initial values and state. */
int ps_dense_get(struct ps_client *client, float *ret_values, float *ret_state, struct err *err);
int ps_dense_put(struct ps_client *client, const float *values, const float *state,
                 struct err *err);
int ps_rows_get(struct ps_client *client, int table, const int64_t *ids, size_t count,
                float *ret_rows, float *ret_state, struct err *err);
int ps_rows_put(struct ps_client *client, int table, const int64_t *ids, size_t count,
                const float *rows, const float *state, struct err *err);

/* Adds `add` to a counter that all workers share, and stores the new value in *ret. With `add` 0 it
 * only reads the counter. If the call fails, its `add` is not lost: the next call for the counter
 * adds it too, so the caller tries again with `add` 0. The counters are kept on server 0 and in its
 * snapshots, or in the memory of a client without servers. */
enum ps_counter {
    PS_COUNTER_STEP, /* global steps */
    PS_COUNTER_DONE, /* workers that have reached the end of their training */
    PS_COUNTERS,
};
int ps_count(struct ps_client *client, enum ps_counter counter, uint64_t add, uint64_t *ret,
             struct err *err);

/* Tells the servers that this worker has finished. Returns when every server has applied all pushes
 * and has recorded this. A server ends when the chief and all workers of its cluster have finished.
 * Call this function before ps_client_free() at the end of a complete run, but not after `stop`. */
int ps_client_finish(struct ps_client *client, struct err *err);

/* ---- Servers */

struct ps_server_options {
    const struct ty_tf_config *config; /* this process must have the role ps */
    uint64_t shape;                    /* the same as in the workers */
    const char *secret;                /* the job secret; NULL: from the environment */
    const char *directory;             /* directory of the snapshots; NULL: no snapshots */
    size_t table_memory_max;           /* limit of bytes per table in this server; 0: no limit */
    int64_t snapshot_every_ms; /* interval between snapshots of changed variables; 0: 1 minute */
    int64_t join_timeout_ms;   /* the first worker must connect within this time; 0: no limit */
    int64_t report_ms;         /* interval between reports about missing workers; 0: 5 seconds */
    /* When *stop is nonzero, the server writes the changes to a snapshot and ends. May be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* Serves until every worker has finished or `stop` is set. Then writes the changes to a snapshot,
 * sets *ret_stopped to whether `stop` is set, and returns 0. Fails with ERR_TIMEOUT if no worker
 * connects within `join_timeout_ms`, and with another error if a snapshot cannot be restored or the
 * final snapshot cannot be written. */
int ps_server_run(const struct ps_server_options *options, bool *ret_stopped, struct err *err);

#endif

/* Parameter servers: processes that keep the variables of a model. Workers pull values and push
 * gradients, without waiting for other workers. There are two kinds of variables: one dense vector,
 * cut into one range per server, and tables of rows, one row per int64 id. The id decides which
 * server has the row. The server applies the gradients, and keeps the state of the optimizer beside
 * the values.
 *
 * A chief or worker uses a ps_client; a ps process calls ps_server_run(). In a cluster of one
 * worker without ps, the client keeps the variables in its own memory, without snapshots. So
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

enum { PS_DIMENSIONS_MAX = 1024, PS_TABLES_MAX = 64, PS_IDS_MAX = 1 << 20 /* per call */ };

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
    const char *secret;                /* NULL: from the environment */
    int64_t join_timeout_ms;           /* how long to wait for all servers; 0: 5 minutes */
    int64_t timeout_ms; /* how long to wait for a server that is lost later; 0: 5 minutes */
    int64_t report_ms;  /* interval between reports about missing servers; 0: 5 seconds */
    /* When *stop is nonzero, a call that would wait for a lost server fails with ERR_CANCELED. May
     * be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of missing servers, and with NULL when no server is missing any more.
     * May be NULL. */
    void (*waiting)(void *context, const char *names);
    void *context;
};

struct ps_client;

/* Returns when every server is connected. The caller frees *ret with ps_client_free(). */
int ps_client_open(const struct ps_options *options, struct ps_client **ret, struct err *err);
struct ps_client *ps_client_free(struct ps_client *client);
DEFINE_CLEANUP(ps_client)

/* Returns the number of servers, or 0 if the variables are in the memory of this process. */
size_t ps_client_servers(const struct ps_client *client);

/* The dense vector. Every worker opens it with the same count. The first worker that opens it sets
 * the initial values, unless the servers have restored a snapshot. If a server has restarted
 * without a snapshot, the first worker that reconnects sends the values that it pulled last, and
 * reports this. */
int ps_dense_open(struct ps_client *client, size_t count, const float *initial,
                  const struct ps_update *update, struct err *err);
int ps_dense_pull(struct ps_client *client, float *ret_values, struct err *err);
int ps_dense_push(struct ps_client *client, const float *gradient, float rate, struct err *err);

/* A table. A row that was never pushed to takes no memory; its values are random numbers between
 * -range and range, which depend only on seed and id. The first push creates the row. Tables are
 * numbered from 0 in the order of opening, which must be the same in all workers. */
struct ps_table {
    int dimensions;
    float range;
    uint64_t seed;
    struct ps_update update;
};
int ps_table_open(struct ps_client *client, const struct ps_table *table, int *ret_number,
                  struct err *err);

/* Pulls the rows of `count` ids, which may be in any order. A repeated id is sent once. ret_rows
 * has room for count × dimensions floats. */
int ps_rows_pull(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, struct err *err);
/* Pushes the gradients of `count` ids. The gradients of a repeated id are added up and applied
 * once. */
int ps_rows_push(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 const float *gradients, float rate, struct err *err);

/* Calls `visit` for every row that exists, in no particular order. For export. */
typedef void ps_visit(void *context, int64_t id, const float *row);
int ps_rows_scan(struct ps_client *client, int table, ps_visit *visit, void *context,
                 struct err *err);

/* Returns when the servers have applied every push of this client. */
int ps_flush(struct ps_client *client, struct err *err);
/* Makes every server that has a snapshot directory write a snapshot. Returns when all snapshots are
 * on disk. A client without servers does nothing. */
int ps_save(struct ps_client *client, struct err *err);

/* Read and write the variables of a client without servers, together with the state of their
 * optimizer. For callers that write their own checkpoints. Fail with ERR_UNSUPPORTED if the client
 * has servers. With Adagrad the state has one float per value, with SGD none. A row that was never
 * pushed to has its initial values. */
int ps_dense_take(struct ps_client *client, float *ret_values, float *ret_state, struct err *err);
int ps_dense_put(struct ps_client *client, const float *values, const float *state,
                 struct err *err);
int ps_rows_take(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, float *ret_state, struct err *err);
int ps_rows_put(struct ps_client *client, int table, const int64_t *ids, size_t count,
                const float *rows, const float *state, struct err *err);

/* Adds `add` to a counter that all workers share, and stores the new value in *ret. The counters
 * are kept on server 0 and in its snapshots. They count the global steps and the workers that are
 * done. */
enum ps_counter { PS_COUNTER_STEP, PS_COUNTER_DONE, PS_COUNTERS };
int ps_count(struct ps_client *client, enum ps_counter counter, uint64_t add, uint64_t *ret,
             struct err *err);

/* Tells the servers that this worker has finished. A server ends when the chief and all workers of
 * its cluster have finished. Call it before ps_client_free() at the end of a complete run, but not
 * after `stop`. */
int ps_client_finish(struct ps_client *client, struct err *err);

/* ---- Servers */

struct ps_server_options {
    const struct ty_tf_config *config; /* this process must have the role ps */
    uint64_t shape;                    /* the same as in the workers */
    const char *secret;
    const char *directory;     /* directory of the snapshots; NULL: no snapshots */
    size_t table_memory_max;   /* limit of bytes per table in this server; 0: no limit */
    int64_t snapshot_every_ms; /* interval between snapshots; 0: 1 minute */
    int64_t join_timeout_ms;   /* the first worker must connect within this time; 0: no limit */
    int64_t report_ms;         /* interval between reports about missing workers; 0: 5 seconds */
    /* When *stop is nonzero, the server writes a snapshot and ends. May be NULL. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* Serves until every worker has finished or `stop` is set. Sets *ret_stopped to true in the second
 * case. */
int ps_server_run(const struct ps_server_options *options, bool *ret_stopped, struct err *err);

#endif

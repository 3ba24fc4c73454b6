/* Parameter servers: variables that live in processes of their own, pulled and pushed by workers
 * that do not wait for each other. Two kinds of variables: one dense vector, cut into ranges over
 * the servers, and tables of rows keyed by int64 ids, one row an id whatever the number of ids, a
 * row's server being decided by its id. How a gradient changes a variable is decided at the server,
 * where the optimizer's state lies beside the values.
 *
 * Workers (chief and worker) use a ps_client; a ps process calls ps_server_run(). A cluster without
 * ps and with one worker has the same client with the variables inside the process, kept by nobody
 * but its user: one process and many run the same code. Several workers without ps are refused:
 * they would share nothing. A client is used by one thread at a time.
 *
 * Pushes are answered later: a call may return while pushes are under way, and their failure comes
 * with the next call. A server that is lost is waited for, by name, until `timeout_ms`: it restores
 * its last snapshot, the call is sent again, and training goes on. A push may so be applied twice,
 * and what came after the snapshot is lost: asynchronous training lives with both.
 */
#ifndef TRAINYARD_COMM_PS_H
#define TRAINYARD_COMM_PS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <trainyard/tf_config.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PS_DIMENSIONS_MAX = 1024, PS_TABLES_MAX = 64, PS_IDS_MAX = 1 << 20 /* of one call */ };

enum ps_rule {
    PS_SGD,     /* w -= rate·g */
    PS_ADAGRAD, /* n += g²; w -= rate·g/√n */
};

struct ps_update {
    enum ps_rule rule;
    float accumulator; /* Adagrad: what n starts with; above 0 */
};

/* ---- The worker's side */

struct ps_options {
    const struct ty_tf_config *config; /* must have this process as chief or worker */
    uint64_t shape;                    /* hash of the model's shape; all processes must agree */
    const char *secret;                /* NULL: from the environment */
    int64_t join_timeout_ms;           /* how long to wait for all servers; 0: 5 minutes */
    int64_t timeout_ms;                /* how long to wait for a server lost later; 0: 5 minutes */
    int64_t report_ms;                 /* between lines about who is missing; 0: 5 seconds */
    const volatile sig_atomic_t *stop; /* not 0: a call that would wait for a lost server ends with
                                          ERR_CANCELED instead; NULL: never */
    void (*report)(void *context, const char *line);  /* may be NULL */
    void (*waiting)(void *context, const char *whom); /* see rendezvous.h; may be NULL */
    void *context;
};

struct ps_client;

/* Returns when every server is connected. */
int ps_client_open(const struct ps_options *options, struct ps_client **ret, struct err *err);
struct ps_client *ps_client_free(struct ps_client *client);
DEFINE_CLEANUP(ps_client)

size_t ps_client_servers(const struct ps_client *client); /* 0: inside this process */

/* The dense vector. Every worker opens it with the same count; the values of the first to come are
 * the start, unless the servers have restored some. A server that came back without a snapshot gets
 * the values this worker saw last, and that is reported. */
int ps_dense_open(struct ps_client *client, size_t count, const float *initial,
                  const struct ps_update *update, struct err *err);
int ps_dense_pull(struct ps_client *client, float *ret_values, struct err *err);
int ps_dense_push(struct ps_client *client, const float *gradient, float rate, struct err *err);

/* A table. A row that nobody pushed to yet has values drawn uniformly from ±range by (seed, id)
 * alone, and takes no memory; the first push makes it. Tables are numbered from 0 in the order of
 * opening, which is the same in all workers. */
struct ps_table {
    int dimensions;
    float range;
    uint64_t seed;
    struct ps_update update;
};
int ps_table_open(struct ps_client *client, const struct ps_table *table, int *ret_number,
                  struct err *err);

/* `count` ids in any order; one that comes several times is sent once. ret_rows is count ×
 * dimensions. */
int ps_rows_pull(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, struct err *err);
/* The gradients of an id that comes several times are added up and applied once. */
int ps_rows_push(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 const float *gradients, float rate, struct err *err);

/* Every row that exists, in no order: for export. */
typedef void ps_visit(void *context, int64_t id, const float *row);
int ps_rows_scan(struct ps_client *client, int table, ps_visit *visit, void *context,
                 struct err *err);

/* Returns when every push so far has been applied. */
int ps_flush(struct ps_client *client, struct err *err);
/* Every server writes a snapshot now; returns when they are on disk. */
int ps_save(struct ps_client *client, struct err *err);

/* Variables inside this process with the state of their optimizer, for who keeps them itself; of a
 * client with servers, which keep them, ERR_UNSUPPORTED. State is as long as the values where the
 * rule is Adagrad, and nothing for SGD. A row that nobody pushed to is what it begins with. */
int ps_dense_take(struct ps_client *client, float *ret_values, float *ret_state, struct err *err);
int ps_dense_put(struct ps_client *client, const float *values, const float *state,
                 struct err *err);
int ps_rows_take(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, float *ret_state, struct err *err);
int ps_rows_put(struct ps_client *client, int table, const int64_t *ids, size_t count,
                const float *rows, const float *state, struct err *err);

/* A count that all workers share, on server 0: adds and returns the new value. Kept in snapshots.
 * For a global step, and for workers that wait until all are done. */
enum ps_counter { PS_COUNTER_STEP, PS_COUNTER_DONE, PS_COUNTERS };
int ps_count(struct ps_client *client, enum ps_counter counter, uint64_t add, uint64_t *ret,
             struct err *err);

/* This worker is done for good: a server ends when every chief and worker of its cluster has said
 * so. To be called before ps_client_free() at the end of a whole run, and not when stopped. */
int ps_client_finish(struct ps_client *client, struct err *err);

/* ---- The server's side */

struct ps_server_options {
    const struct ty_tf_config *config; /* must have this process as ps */
    uint64_t shape;                    /* of the model, as the workers say it */
    const char *secret;
    const char *directory;             /* of snapshots: "ps-0-of-4.snapshot"; NULL: none */
    size_t table_memory_max;           /* bytes a table may take; 0: no limit */
    int64_t snapshot_every_ms;         /* 0: a minute; only when something changed */
    int64_t join_timeout_ms;           /* for the first worker to come; 0: for ever */
    int64_t report_ms;                 /* between lines about who did not come; 0: 5 seconds */
    const volatile sig_atomic_t *stop; /* not 0: write a snapshot and end; NULL: never */
    void (*report)(void *context, const char *line); /* restored, saved, joined, left; or NULL */
    void *context;
};

/* Serves until every worker has finished, or until stopped; ret_stopped tells which. */
int ps_server_run(const struct ps_server_options *options, bool *ret_stopped, struct err *err);

#endif

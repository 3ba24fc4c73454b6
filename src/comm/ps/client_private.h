/* The interface between client.c and the two kinds of client. client_local.c keeps the variables in
 * the memory of the worker, client_remote.c keeps them on servers. client.c checks the arguments,
 * builds batches and records which variables are open. Included by client*.c only. */
#ifndef TRAINYARD_COMM_PS_CLIENT_PRIVATE_H
#define TRAINYARD_COMM_PS_CLIENT_PRIVATE_H

#include "comm/ps/batch.h"
#include "comm/ps/ps.h"

/* The operations of one kind of client, called after client.c has checked the arguments. They
 * implement the functions of ps.h with the same names. `ret_rows` and `gradients` have one row per
 * id of the batch, in the order of batch->ids. */
struct ps_client_ops {
    void (*free)(struct ps_client *client);
    int (*dense_open)(struct ps_client *client, const float *initial, struct err *err);
    int (*dense_pull)(struct ps_client *client, float *ret_values, struct err *err);
    int (*dense_push)(struct ps_client *client, const float *gradient, float rate, struct err *err);
    int (*table_open)(struct ps_client *client, size_t number, struct err *err);
    int (*rows_pull)(struct ps_client *client, size_t table, const struct ps_batch *batch,
                     float *ret_rows, struct err *err);
    int (*rows_push)(struct ps_client *client, size_t table, const struct ps_batch *batch,
                     const float *gradients, float rate, struct err *err);
    int (*rows_scan)(struct ps_client *client, size_t table, ps_visit *visit, void *context,
                     struct err *err);
    int (*flush)(struct ps_client *client, struct err *err);
    int (*save)(struct ps_client *client, struct err *err);
    /* `total` is the sum of all additions by this process, including the new one. */
    int (*count)(struct ps_client *client, enum ps_counter counter, uint64_t total, uint64_t *ret,
                 struct err *err);
    int (*finish)(struct ps_client *client, struct err *err);
};

struct ps_client {
    const struct ps_client_ops *ops;
    void *backend;      /* client_local.c: a struct ps_store; client_remote.c: a struct remote */
    size_t servers;     /* number of servers; 0: the client is local */
    size_t dense_count; /* number of values of the dense vector; 0: it is not open */
    struct ps_update dense_update;
    struct ps_table tables[PS_TABLES_MAX];
    size_t table_count;           /* number of open tables */
    uint64_t totals[PS_COUNTERS]; /* by counter: sum of all additions by this process */
    struct ps_batch batch;        /* the ids of the current call */
    float *rows;                  /* temporary buffer for the rows of a batch */
    size_t rows_capacity;         /* size of `rows` in floats */
};

/* Both functions set `ops` and `backend`, ps_client_remote_init() also if it fails.
 * ps_client_free() frees the backend. */
void ps_client_local_init(struct ps_client *client);
int ps_client_remote_init(struct ps_client *client, const struct ps_options *options,
                          struct err *err);

#endif

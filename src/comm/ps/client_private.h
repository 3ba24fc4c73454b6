/* What the two kinds of client share: one has the variables inside its process (ps_client_local.c),
 * one on servers (ps_client_remote.c). ps_client.c checks, makes batches and keeps the count of
 * what is open. Included by ps_client*.c only. */
#ifndef TRAINYARD_COMM_PS_CLIENT_PRIVATE_H
#define TRAINYARD_COMM_PS_CLIENT_PRIVATE_H

#include "comm/ps/batch.h"
#include "comm/ps/ps.h"

/* Arguments are checked. Rows are those of the batch, one an id of it. */
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
    int (*count)(struct ps_client *client, enum ps_counter counter, uint64_t total, uint64_t *ret,
                 struct err *err);
    int (*finish)(struct ps_client *client, struct err *err);
};

struct ps_client {
    const struct ps_client_ops *ops;
    void *side; /* what the kind keeps */
    size_t servers;
    size_t dense_count;
    struct ps_update dense_update;
    struct ps_table tables[PS_TABLES_MAX];
    size_t table_count;
    uint64_t counted[PS_COUNTERS]; /* by this process */
    struct ps_batch batch;
    float *rows; /* scratch, of a batch's rows */
    size_t rows_capacity;
};

/* Set ops and side. */
void ps_client_local_init(struct ps_client *client);
int ps_client_remote_init(struct ps_client *client, const struct ps_options *options,
                          struct err *err);

#endif

/* The client with the variables inside its own process: what a cluster without ps trains with; see
 * ps_client_private.h. */
#include "base/mem.h"
#include "comm/ps_client_private.h"
#include "comm/ps_store.h"

#include <string.h>

static void local_free(struct ps_client *client)
{
    ps_store_free(client->side);
}

static int dense_open(struct ps_client *client, const float *initial, struct err *err)
{
    const struct ps_dense_shape shape = {
        .total = client->dense_count, .count = client->dense_count, .update = client->dense_update};
    bool seeded;
    int result = ps_store_dense_open(client->side, &shape, &seeded, err);
    return result < 0 ? result
                      : ps_store_dense_seed(client->side, initial, client->dense_count, err);
}

static int dense_pull(struct ps_client *client, float *ret_values, struct err *err)
{
    const float *values;
    int result = ps_store_dense_pull(client->side, 0, client->dense_count, &values, err);
    if (result == 0)
        memcpy(ret_values, values, client->dense_count * sizeof(float));
    return result;
}

static int dense_push(struct ps_client *client, const float *gradient, float rate, struct err *err)
{
    return ps_store_dense_push(client->side, 0, client->dense_count, gradient, rate, err);
}

static int table_open(struct ps_client *client, size_t number, struct err *err)
{
    return ps_store_table_open(client->side, number, &client->tables[number], err);
}

static int rows_pull(struct ps_client *client, size_t table, const struct ps_batch *batch,
                     float *ret_rows, struct err *err)
{
    return ps_store_rows_pull(client->side, table, batch->ids, batch->count, ret_rows, err);
}

static int rows_push(struct ps_client *client, size_t table, const struct ps_batch *batch,
                     const float *gradients, float rate, struct err *err)
{
    return ps_store_rows_push(client->side, table, batch->ids, batch->count, gradients, rate, err);
}

static int rows_scan(struct ps_client *client, size_t number, ps_visit *visit, void *context,
                     struct err *err)
{
    const struct embedding_table *table = ps_store_table(client->side, number);
    const int64_t *ids;
    const float *rows;
    size_t stride = embedding_table_stride(table), count;
    for (size_t at = 0; (count = embedding_table_span(table, at, &ids, &rows)) > 0; at += count)
        for (size_t i = 0; i < count; i++)
            visit(context, ids[i], rows + i * stride);
    return 0;
}

static int count(struct ps_client *client, enum ps_counter counter, uint64_t total, uint64_t *ret,
                 struct err *err)
{
    return ps_store_count(client->side, 0, 0, counter, total, ret, err);
}

/* Applied at once, kept nowhere: nothing to wait for and nothing to write. */
static int nothing(struct ps_client *client, struct err *err)
{
    return 0;
}

void ps_client_local_init(struct ps_client *client)
{
    static const struct ps_client_ops OPS = {
        .free = local_free,
        .dense_open = dense_open,
        .dense_pull = dense_pull,
        .dense_push = dense_push,
        .table_open = table_open,
        .rows_pull = rows_pull,
        .rows_push = rows_push,
        .rows_scan = rows_scan,
        .flush = nothing,
        .save = nothing,
        .count = count,
        .finish = nothing,
    };
    client->ops = &OPS;
    client->side = ps_store_new(0);
}

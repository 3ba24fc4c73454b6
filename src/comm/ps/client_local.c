/* Implements the client that keeps the variables in the memory of the worker, for a cluster without
 * ps; see client_private.h. */
#include "base/mem.h"
#include "comm/ps/client_private.h"
#include "comm/ps/store.h"
#include "comm/ps/update.h"

#include <string.h>

static void local_free(struct ps_client *client)
{
    ps_store_free(client->backend);
}

static int local_dense_open(struct ps_client *client, const float *initial, struct err *err)
{
    const struct ps_dense_shape shape = {
        .total = client->dense_count, .count = client->dense_count, .update = client->dense_update};
    bool seeded;
    int result = ps_store_dense_open(client->backend, &shape, &seeded, err);
    return result < 0 ? result
                      : ps_store_dense_seed(client->backend, initial, client->dense_count, err);
}

static int local_dense_pull(struct ps_client *client, float *ret_values, struct err *err)
{
    const float *values;
    int result = ps_store_dense_pull(client->backend, 0, client->dense_count, &values, err);
    if (result == 0)
        memcpy(ret_values, values, client->dense_count * sizeof(float));
    return result;
}

static int local_dense_push(struct ps_client *client, const float *gradient, float rate,
                            struct err *err)
{
    return ps_store_dense_push(client->backend, 0, client->dense_count, gradient, rate, err);
}

static int local_table_open(struct ps_client *client, size_t number, struct err *err)
{
    return ps_store_table_open(client->backend, number, &client->tables[number], err);
}

static int local_rows_pull(struct ps_client *client, size_t table, const struct ps_batch *batch,
                           float *ret_rows, struct err *err)
{
    return ps_store_rows_pull(client->backend, table, batch->ids, batch->count, ret_rows, err);
}

static int local_rows_push(struct ps_client *client, size_t table, const struct ps_batch *batch,
                           const float *gradients, float rate, struct err *err)
{
    return ps_store_rows_push(client->backend, table, batch->ids, batch->count, gradients, rate,
                              err);
}

static int local_rows_scan(struct ps_client *client, size_t number, ps_visit *visit, void *context,
                           struct err *err)
{
    const struct embedding_table *table = ps_store_table(client->backend, number);
    const int64_t *ids;
    const float *rows;
    size_t stride = embedding_table_stride(table), count;
    for (size_t at = 0; (count = embedding_table_span(table, at, &ids, &rows)) > 0; at += count)
        for (size_t i = 0; i < count; i++)
            visit(context, ids[i], rows + i * stride);
    return 0;
}

static int local_count(struct ps_client *client, enum ps_counter counter, uint64_t total,
                       uint64_t *ret, struct err *err)
{
    return ps_store_count(client->backend, 0, 0, counter, total, ret, err);
}

/* A push is applied at once and nothing is written to disk, so flush, save and finish do nothing.
 */
static int local_do_nothing(struct ps_client *client, struct err *err)
{
    return 0;
}

void ps_client_local_init(struct ps_client *client)
{
    static const struct ps_client_ops OPS = {
        .free = local_free,
        .dense_open = local_dense_open,
        .dense_pull = local_dense_pull,
        .dense_push = local_dense_push,
        .table_open = local_table_open,
        .rows_pull = local_rows_pull,
        .rows_push = local_rows_push,
        .rows_scan = local_rows_scan,
        .flush = local_do_nothing,
        .save = local_do_nothing,
        .count = local_count,
        .finish = local_do_nothing,
    };
    client->ops = &OPS;
    client->backend = ps_store_new(0);
}

/* ---- Values with the state of their optimizer */

static int local_check_no_servers(const struct ps_client *client, struct err *err)
{
    return client->servers == 0 ? 0
                                : err_set(err, ERR_UNSUPPORTED,
                                          "the variables are stored on parameter servers: their "
                                          "optimizer state cannot be read or set here");
}

static int local_check_dense(const struct ps_client *client, size_t *ret_state_count,
                             struct err *err)
{
    int result = local_check_no_servers(client, err);
    if (result == 0 && !client->dense_count)
        return err_set(err, ERR_INVALID, "the dense vector has not been opened");
    *ret_state_count = ps_update_state_count(&client->dense_update, client->dense_count);
    return result;
}

int ps_dense_get(struct ps_client *client, float *ret_values, float *ret_state, struct err *err)
{
    size_t state_count;
    int result = local_check_dense(client, &state_count, err);
    if (result < 0)
        return result;
    struct ps_store_view view = ps_store_view(client->backend);
    memcpy(ret_values, view.values, client->dense_count * sizeof(float));
    if (state_count)
        memcpy(ret_state, view.state, state_count * sizeof(float));
    return 0;
}

int ps_dense_put(struct ps_client *client, const float *values, const float *state, struct err *err)
{
    size_t state_count;
    int result = local_check_dense(client, &state_count, err);
    if (result < 0)
        return result;
    struct ps_store_view view = ps_store_view(client->backend);
    memcpy(view.values, values, client->dense_count * sizeof(float));
    if (state_count)
        memcpy(view.state, state, state_count * sizeof(float));
    return 0;
}

static int local_check_rows(const struct ps_client *client, int table, struct err *err)
{
    int result = local_check_no_servers(client, err);
    if (result == 0 && (table < 0 || (size_t)table >= client->table_count))
        return err_set(err, ERR_INVALID, "table %d has not been opened", table);
    return result;
}

int ps_rows_get(struct ps_client *client, int number, const int64_t *ids, size_t count,
                float *ret_rows, float *ret_state, struct err *err)
{
    int result = local_check_rows(client, number, err);
    if (result < 0)
        return result;
    const struct embedding_table *table = ps_store_table(client->backend, (size_t)number);
    size_t dimensions = (size_t)client->tables[number].dimensions;
    size_t state_count = embedding_table_stride(table) - dimensions; /* floats per row */
    _cleanup_free_ float *row = mem_calloc(dimensions + state_count, sizeof(*row));
    for (size_t i = 0; i < count; i++) {
        embedding_table_get(table, ids[i], row);
        memcpy(ret_rows + i * dimensions, row, dimensions * sizeof(float));
        if (state_count)
            memcpy(ret_state + i * state_count, row + dimensions, state_count * sizeof(float));
    }
    return 0;
}

int ps_rows_put(struct ps_client *client, int number, const int64_t *ids, size_t count,
                const float *rows, const float *state, struct err *err)
{
    int result = local_check_rows(client, number, err);
    if (result < 0)
        return result;
    struct embedding_table *table = ps_store_table(client->backend, (size_t)number);
    size_t dimensions = (size_t)client->tables[number].dimensions;
    size_t state_count = embedding_table_stride(table) - dimensions; /* floats per row */
    _cleanup_free_ float *row = mem_calloc(dimensions + state_count, sizeof(*row));
    for (size_t i = 0; result == 0 && i < count; i++) {
        memcpy(row, rows + i * dimensions, dimensions * sizeof(float));
        if (state_count)
            memcpy(row + dimensions, state + i * state_count, state_count * sizeof(float));
        result = embedding_table_put(table, ids[i], row, err);
    }
    return result;
}

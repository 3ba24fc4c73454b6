/* The common part of both clients of parameter servers (local and remote); see ps.h. Checks the
 * arguments, builds batches, and records which variables are open. */
#include "comm/ps/client_private.h"

#include "base/mem.h"
#include "comm/cluster/tf_config.h"
#include "comm/ps/update.h"

#include <math.h>
#include <stdlib.h>

/* Refuses a task that is neither chief nor worker. Also refuses several workers without parameter
 * servers, because they would train separate models. */
static int client_check_config(const struct ty_tf_config *config, size_t *ret_servers,
                               struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    size_t servers = ty_tf_config_count(config, TY_ROLE_PS);
    size_t workers = tf_config_workers(config);
    if (self->role != TY_ROLE_CHIEF && self->role != TY_ROLE_WORKER)
        return err_set(err, ERR_UNSUPPORTED, "%s %d does not train: only a chief and workers do",
                       ty_role_name(self->role), self->index);
    if (servers == 0 && workers > 1)
        return err_set(err, ERR_INVALID,
                       "the cluster has %zu workers and no ps, so each worker would train its own "
                       "model: add a ps to the cluster, or run one worker",
                       workers);
    *ret_servers = servers;
    return 0;
}

int ps_client_open(const struct ps_options *options, struct ps_client **ret, struct err *err)
{
    size_t servers;
    int result = client_check_config(options->config, &servers, err);
    if (result < 0)
        return result;
    _cleanup_(cleanup_ps_client) struct ps_client *client = mem_zalloc(sizeof(*client));
    client->servers = servers;
    ps_batch_init(&client->batch, servers);
    if (servers == 0)
        ps_client_local_init(client);
    else
        result = ps_client_remote_init(client, options, err);
    if (result == 0)
        *ret = TAKE(client);
    return result;
}

struct ps_client *ps_client_free(struct ps_client *client)
{
    if (!client)
        return NULL;
    if (client->backend)
        client->ops->free(client);
    ps_batch_release(&client->batch);
    free(client->rows);
    free(client);
    return NULL;
}

size_t ps_client_servers(const struct ps_client *client)
{
    return client->servers;
}

int ps_dense_open(struct ps_client *client, size_t count, const float *initial,
                  const struct ps_update *update, struct err *err)
{
    if (client->dense_count)
        return err_set(err, ERR_EXISTS, "the dense vector is open already");
    if (count == 0)
        return err_set(err, ERR_INVALID, "a dense vector must have at least one value");
    int result = ps_update_check(update, err);
    if (result < 0)
        return result;
    client->dense_count = count;
    client->dense_update = *update;
    if ((result = client->ops->dense_open(client, initial, err)) < 0)
        client->dense_count = 0;
    return result;
}

static int client_check_dense(const struct ps_client *client, struct err *err)
{
    return client->dense_count ? 0
                               : err_set(err, ERR_INVALID, "the dense vector has not been opened");
}

static int client_check_rate(float rate, struct err *err)
{
    return isfinite(rate)
               ? 0
               : err_set(err, ERR_INVALID,
                         "the learning rate is %g, but it must be a finite number", (double)rate);
}

int ps_dense_pull(struct ps_client *client, float *ret_values, struct err *err)
{
    int result = client_check_dense(client, err);
    return result < 0 ? result : client->ops->dense_pull(client, ret_values, err);
}

int ps_dense_push(struct ps_client *client, const float *gradient, float rate, struct err *err)
{
    int result = client_check_dense(client, err);
    if (result < 0 || (result = client_check_rate(rate, err)) < 0)
        return result;
    return client->ops->dense_push(client, gradient, rate, err);
}

int ps_table_open(struct ps_client *client, const struct ps_table *table, int *ret_number,
                  struct err *err)
{
    size_t number = client->table_count;
    if (number == PS_TABLES_MAX)
        return err_set(err, ERR_TOO_MANY, "%d tables are open already, which is the limit",
                       PS_TABLES_MAX);
    client->tables[number] = *table;
    client->table_count++;
    int result = client->ops->table_open(client, number, err);
    if (result < 0)
        client->table_count--;
    else
        *ret_number = (int)number;
    return result;
}

static int client_check_table(const struct ps_client *client, int table, size_t count,
                              struct err *err)
{
    if (table < 0 || (size_t)table >= client->table_count)
        return err_set(err, ERR_INVALID, "table %d has not been opened", table);
    if (count > PS_IDS_MAX)
        return err_set(err, ERR_TOO_LARGE, "a call has %zu ids, but the limit is %d", count,
                       PS_IDS_MAX);
    return 0;
}

/* Returns the buffer `rows` with room for at least `floats` floats. Its contents are undefined. */
static float *client_scratch(struct ps_client *client, size_t floats)
{
    if (floats > client->rows_capacity) {
        free(client->rows);
        client->rows = mem_calloc(floats, sizeof(float));
        client->rows_capacity = floats;
    }
    return client->rows;
}

int ps_rows_pull(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 float *ret_rows, struct err *err)
{
    int result = client_check_table(client, table, count, err);
    if (result < 0 || count == 0)
        return result;
    struct ps_batch *batch = &client->batch;
    size_t dimensions = (size_t)client->tables[table].dimensions;
    ps_batch_fill(batch, ids, count);
    float *rows = batch->unchanged ? ret_rows : client_scratch(client, batch->count * dimensions);
    result = client->ops->rows_pull(client, (size_t)table, batch, rows, err);
    if (result == 0 && !batch->unchanged)
        ps_batch_spread(batch, rows, count, dimensions, ret_rows);
    return result;
}

int ps_rows_push(struct ps_client *client, int table, const int64_t *ids, size_t count,
                 const float *gradients, float rate, struct err *err)
{
    int result = client_check_table(client, table, count, err);
    if (result < 0 || (result = client_check_rate(rate, err)) < 0 || count == 0)
        return result;
    struct ps_batch *batch = &client->batch;
    size_t dimensions = (size_t)client->tables[table].dimensions;
    ps_batch_fill(batch, ids, count);
    const float *sums = gradients;
    if (!batch->unchanged) {
        float *rows = client_scratch(client, batch->count * dimensions);
        ps_batch_sum(batch, gradients, count, dimensions, rows);
        sums = rows;
    }
    return client->ops->rows_push(client, (size_t)table, batch, sums, rate, err);
}

int ps_rows_scan(struct ps_client *client, int table, ps_visit *visit, void *context,
                 struct err *err)
{
    int result = client_check_table(client, table, 0, err);
    return result < 0 ? result : client->ops->rows_scan(client, (size_t)table, visit, context, err);
}

int ps_flush(struct ps_client *client, struct err *err)
{
    return client->ops->flush(client, err);
}

int ps_save(struct ps_client *client, struct err *err)
{
    return client->ops->save(client, err);
}

int ps_count(struct ps_client *client, enum ps_counter counter, uint64_t add, uint64_t *ret,
             struct err *err)
{
    if ((unsigned)counter >= PS_COUNTERS)
        return err_set(err, ERR_INVALID, "unknown counter %d: expected 0 to %d", (int)counter,
                       PS_COUNTERS - 1);
    client->totals[counter] += add;
    return client->ops->count(client, counter, client->totals[counter], ret, err);
}

int ps_client_finish(struct ps_client *client, struct err *err)
{
    return client->ops->finish(client, err);
}

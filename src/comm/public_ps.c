/* Implements <trainyard/ps.h>: wraps the functions of comm/ps/ps.h and converts their errors to the
 * public error object. */
#include "base/mem.h"
#include "comm/ps/ps.h"
#include "comm/public.h"

#include <trainyard/ps.h>

_Static_assert((int)TY_PS_SGD == (int)PS_SGD && (int)TY_PS_ADAGRAD == (int)PS_ADAGRAD,
               "the public rules have the values of enum ps_rule");
_Static_assert((int)TY_PS_COUNTER_STEP == (int)PS_COUNTER_STEP &&
                   (int)TY_PS_COUNTER_DONE == (int)PS_COUNTER_DONE,
               "the public counters have the values of enum ps_counter");
_Static_assert((int)TY_PS_IDS_MAX == (int)PS_IDS_MAX &&
                   (int)TY_PS_TABLES_MAX == (int)PS_TABLES_MAX &&
                   (int)TY_PS_DIMENSIONS_MAX == (int)PS_DIMENSIONS_MAX,
               "the public limits are those of ps.h");

struct ty_ps {
    struct ps_client *client;
};

static struct ps_update inner_update(const struct ty_ps_update *update)
{
    return (struct ps_update){.rule = (enum ps_rule)update->rule,
                              .accumulator = update->accumulator};
}

int ty_ps_open(const struct ty_tf_config *config, const struct ty_ps_options *options,
               struct ty_ps **ret, struct ty_error *error)
{
    const struct ty_ps_options none = {0};
    if (!options)
        options = &none;
    const struct ps_options inner = {
        .config = config,
        .shape = options->shape,
        .secret = options->secret,
        .join_timeout_ms = options->join_timeout_ms,
        .timeout_ms = options->timeout_ms,
        .report_ms = options->report_ms,
        .report = options->report,
        .context = options->context,
    };
    struct err err = ERR_INIT;
    struct ps_client *client;
    int result = ps_client_open(&inner, &client, &err);
    if (result < 0)
        return comm_public_answer(result, &err, error);
    struct ty_ps *ps = mem_zalloc(sizeof(*ps));
    ps->client = client;
    *ret = ps;
    return 0;
}

void ty_ps_close(struct ty_ps *ps)
{
    if (!ps)
        return;
    ps_client_free(ps->client);
    free(ps);
}

int ty_ps_dense_open(struct ty_ps *ps, size_t count, const float *initial,
                     const struct ty_ps_update *update, struct ty_error *error)
{
    struct err err = ERR_INIT;
    const struct ps_update inner = inner_update(update);
    return comm_public_answer(ps_dense_open(ps->client, count, initial, &inner, &err), &err, error);
}

int ty_ps_dense_pull(struct ty_ps *ps, float *ret_values, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_dense_pull(ps->client, ret_values, &err), &err, error);
}

int ty_ps_dense_push(struct ty_ps *ps, const float *gradient, float rate, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_dense_push(ps->client, gradient, rate, &err), &err, error);
}

int ty_ps_table_open(struct ty_ps *ps, const struct ty_ps_table *table, int *ret_number,
                     struct ty_error *error)
{
    struct err err = ERR_INIT;
    const struct ps_table inner = {.dimensions = table->dimensions,
                                   .range = table->range,
                                   .seed = table->seed,
                                   .update = inner_update(&table->update)};
    return comm_public_answer(ps_table_open(ps->client, &inner, ret_number, &err), &err, error);
}

int ty_ps_rows_pull(struct ty_ps *ps, int table, const int64_t *ids, size_t count, float *ret_rows,
                    struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_rows_pull(ps->client, table, ids, count, ret_rows, &err), &err,
                              error);
}

int ty_ps_rows_push(struct ty_ps *ps, int table, const int64_t *ids, size_t count,
                    const float *gradients, float rate, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_rows_push(ps->client, table, ids, count, gradients, rate, &err),
                              &err, error);
}

int ty_ps_rows_scan(struct ty_ps *ps, int table,
                    void (*visit)(void *context, int64_t id, const float *row), void *context,
                    struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_rows_scan(ps->client, table, visit, context, &err), &err, error);
}

int ty_ps_flush(struct ty_ps *ps, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_flush(ps->client, &err), &err, error);
}

int ty_ps_save(struct ty_ps *ps, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_save(ps->client, &err), &err, error);
}

int ty_ps_count(struct ty_ps *ps, enum ty_ps_counter counter, uint64_t add, uint64_t *ret,
                struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_count(ps->client, (enum ps_counter)counter, add, ret, &err), &err,
                              error);
}

int ty_ps_finish(struct ty_ps *ps, struct ty_error *error)
{
    struct err err = ERR_INIT;
    return comm_public_answer(ps_client_finish(ps->client, &err), &err, error);
}

int ty_ps_serve(const struct ty_tf_config *config, const struct ty_ps_server_options *options,
                struct ty_error *error)
{
    const struct ty_ps_server_options none = {0};
    if (!options)
        options = &none;
    const struct ps_server_options inner = {
        .config = config,
        .shape = options->shape,
        .secret = options->secret,
        .directory = options->directory,
        .table_memory_max = options->table_memory_max,
        .snapshot_every_ms = options->snapshot_every_ms,
        .stop = options->stop,
        .report = options->report,
        .context = options->context,
    };
    struct err err = ERR_INIT;
    bool stopped;
    return comm_public_answer(ps_server_run(&inner, &stopped, &err), &err, error);
}

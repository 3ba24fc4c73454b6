/* Implements the training of a recommender in one process; see fit_internal.h. The client holds the
 * variables in its own memory instead of on servers. The ids of all rows are known before the first
 * batch, so a checkpoint can have the usual form: the dense parameters and the rows are its
 * parameters, and the sums of Adagrad are its optimizer slots. The synchronous loop can therefore
 * train this model like any other. The variables are copied from the client only for a
 * checkpoint. */
#include "base/mem.h"
#include "base/vec.h"
#include "models/recommender/fit_internal.h"

#include <math.h>
#include <string.h>

/* The state of a run in one process. */
struct alone {
    struct recommender_run *run;
    VEC(int64_t) ids; /* the ids of all rows, in the order of the checkpoint */
    struct params *params;
    struct optimizer *optimizer;
    struct err problem; /* an error of alone_changed(), which cannot return it */
};

enum { DENSE, ROWS }; /* positions of the entries in `params` */

static void alone_release(struct alone *alone)
{
    vec_release(&alone->ids);
    alone->params = params_free(alone->params);
    alone->optimizer = optimizer_free(alone->optimizer);
}

static void alone_add_id(void *context, int64_t id, const float *row)
{
    struct alone *alone = context;
    (void)row;
    vec_push(&alone->ids, id);
}

/* Creates a row for every user and item of the training ratings. A push of zeros creates a row with
 * its initial values. Then lists the ids of all rows. */
static int alone_make_rows(struct alone *alone, struct err *err)
{
    struct recommender_run *run = alone->run;
    size_t part = (size_t)run->options->batch, count = run->split.train_count;
    for (size_t at = 0; at < count; at += part) {
        size_t now = count - at < part ? count - at : part;
        recommender_gather(&run->options->model, run->ratings, run->split.train + at, now, run->ids,
                           run->batch_ratings);
        int result = ps_rows_push(run->cluster->client, run->table, run->ids,
                                  RECOMMENDER_FIELDS * now, run->d_rows, 0, err);
        if (result < 0)
            return result;
    }
    return ps_rows_scan(run->cluster->client, run->table, alone_add_id, alone, err);
}

static int alone_collect(void *context, struct err *err)
{
    struct alone *alone = context;
    struct ps_client *client = alone->run->cluster->client;
    const struct params *params = alone->params;
    float *slots = alone->optimizer->slots;
    int result = ps_dense_get(client, params_value(params, DENSE),
                              slots + params->entries[DENSE].offset, err);
    if (result == 0 && alone->ids.count)
        result = ps_rows_get(client, alone->run->table, alone->ids.items, alone->ids.count,
                             params_value(params, ROWS), slots + params->entries[ROWS].offset, err);
    return result;
}

static void alone_changed(void *context)
{
    struct alone *alone = context;
    struct ps_client *client = alone->run->cluster->client;
    const struct params *params = alone->params;
    const float *slots = alone->optimizer->slots;
    int result = ps_dense_put(client, params_value(params, DENSE),
                              slots + params->entries[DENSE].offset, &alone->problem);
    if (result == 0 && alone->ids.count)
        (void)ps_rows_put(client, alone->run->table, alone->ids.items, alone->ids.count,
                          params_value(params, ROWS), slots + params->entries[ROWS].offset,
                          &alone->problem);
}

/* Creates the parameters and the optimizer of the checkpoints. Without a model directory there are
 * no checkpoints, so no rows are created in advance, and the limit of checkpoint parameters does
 * not apply. */
static int alone_make_params(struct alone *alone, struct err *err)
{
    struct recommender_run *run = alone->run;
    size_t row = (size_t)recommender_row_floats(&run->options->model);
    int result = run->options->fit.model_dir ? alone_make_rows(alone, err) : 0;
    if (result < 0)
        return result;
    if (alone->ids.count > PARAMS_FLOATS_MAX / 2 / row)
        return err_set(err, ERR_TOO_LARGE,
                       "%zu rows of %zu values are too many for a checkpoint: use fewer "
                       "--dimensions, or --buckets",
                       alone->ids.count, row);
    alone->params = params_new();
    params_declare(alone->params, "dense",
                   (int[]){(int)recommender_batch_params(run->batch)->floats, 1, 1, 1}, PARAM_ZERO,
                   0);
    if (alone->ids.count)
        params_declare(alone->params, "embedding.rows",
                       (int[]){(int)alone->ids.count, (int)row, 1, 1}, PARAM_ZERO, 0);
    result = params_allocate(alone->params, err);
    if (result < 0)
        return result;
    alone->optimizer = optimizer_new(OPTIMIZER_ADAGRAD, 0, alone->params);
    return alone_collect(alone, err);
}

static int alone_step(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                      struct err *err)
{
    struct alone *alone = context;
    *ret = (struct fit_loop_step){
        .rate = alone->run->options->rate, .accuracy = (double)NAN, .stop = stop};
    if (alone->problem.code)
        return err_set(err, alone->problem.code, "%s", alone->problem.message);
    return recommender_run_batch(alone->run, step - 1, &ret->loss, err);
}

static struct json *alone_config(void *context, struct arena *arena)
{
    const struct alone *alone = context;
    return recommender_config_to_json(arena, &alone->run->options->model);
}

const struct model_steps RECOMMENDER_FIT_STEPS = {
    .step = alone_step,
    .changed = alone_changed,
    .config = alone_config,
    .collect = alone_collect,
};

int recommender_run_alone(struct recommender_run *run, struct recommender_fit_result *outcome,
                          struct err *err)
{
    const struct recommender_fit_options *options = run->options;
    _cleanup_(alone_release) struct alone alone = {.run = run};
    struct reducer reducer = reducer_single();
    int result = alone_make_params(&alone, err);
    if (result < 0)
        return result;
    char start[RECOMMENDER_SENTENCE_MAX];
    recommender_run_sentence(run, start, sizeof(start));
    struct fit_loop loop = {
        .model = &RECOMMENDER_MODEL,
        .context = &alone,
        .options = &options->fit,
        .steps = run->steps,
        .batch = (size_t)options->batch,
        .log = run->log,
        .start = start,
        .claim = &run->claim,
        .reducer = &reducer,
        .params = alone.params,
        .optimizer = alone.optimizer,
    };
    struct fit_loop_result done;
    result = fit_loop_run(&loop, &done, err);
    if (result < 0)
        return result;
    outcome->steps = done.last;
    outcome->own_steps = done.last - done.first;
    outcome->stopped = done.stopped;
    outcome->loss = done.loss;
    result = done.stopped ? 0 : recommender_run_conclude(run, outcome, err);
    return result < 0 ? result : fit_loop_check_saved(&done, err);
}

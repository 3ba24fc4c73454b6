/* Implements the training of a recommender with parameter servers, and the parts that training in
 * one process shares; see fit.h and fit_internal.h. */
#include "models/recommender/fit_internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/system/file.h"
#include "models/recommender/model.h"
#include "train/data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int64_t WAIT_STEP_MS = 20, WAIT_REPORT_MS = 5000;

static void recommender_fit_release(struct recommender_run *fit)
{
    run_log_free(fit->log);
    if (fit->claim >= 0)
        close(fit->claim);
    recommender_batch_free(fit->batch);
    ratings_split_release(&fit->split);
    free(fit->order);
    free(fit->ids);
    free(fit->batch_ratings);
    free(fit->rows);
    free(fit->d_rows);
}

size_t recommender_fit_numbers(const struct recommender_fit_options *options,
                               uint64_t ret[MODEL_NUMBERS_MAX])
{
    const uint64_t numbers[] = {
        0x7265636f6d6dU, /* "recomm", to differ from other models */
        (uint64_t)options->model.kind,
        (uint64_t)options->model.label,
        (uint64_t)options->model.dimensions,
        (uint64_t)options->model.buckets,
        options->fit.seed,
        options->epochs,
        (uint64_t)options->batch,
        (uint64_t)options->test_percent,
        model_hash_float(options->rate),
        model_hash_float(options->accumulator),
        model_hash_float(options->accumulator_rows),
        model_hash_float(options->range),
    };
    memcpy(ret, numbers, sizeof(numbers));
    return ARRAY_SIZE(numbers);
}

void recommender_fit_model_path(const char *model_dir, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", model_dir, RECOMMENDER_MODEL_FILE);
}

static int check_options(const struct recommender_fit_options *options, struct err *err)
{
    if (!(options->rate > 0 && options->rate <= 100) || !(options->accumulator > 0) ||
        !(options->accumulator_rows > 0))
        return err_set(err, ERR_INVALID,
                       "learning rate %g, accumulators %g and %g: the rate must lie between 0 and "
                       "100, the accumulators above 0",
                       (double)options->rate, (double)options->accumulator,
                       (double)options->accumulator_rows);
    return 0;
}

/* Returns the mean of the training ratings, or the fraction of them that count as liked. */
static double mean_label(const struct recommender_run *fit)
{
    double sum = 0;
    for (size_t i = 0; i < fit->split.train_count; i++) {
        float value = fit->ratings->items[fit->split.train[i]].value;
        sum += fit->options->model.label == RECOMMENDER_LIKE ? value >= RECOMMENDER_LIKED
                                                             : (double)value;
    }
    return sum / (double)fit->split.train_count;
}

static int recommender_fit_start(struct recommender_run *fit, struct err *err)
{
    const struct recommender_fit_options *options = fit->options;
    int result = check_options(options, err);
    if (result == 0)
        result = recommender_batch_new(&options->model, options->batch, &fit->batch, err);
    if (result < 0)
        return result;
    ratings_split_draw(fit->ratings, options->fit.seed, options->test_percent, &fit->split);
    if (fit->split.train_count == 0)
        return err_set(err, ERR_INVALID,
                       "no rating is left to train on, out of %zu: use more ratings, or a lower "
                       "--test-percent",
                       fit->ratings->count);
    size_t n = (size_t)options->batch, row = (size_t)recommender_row_floats(&options->model);
    fit->order = mem_calloc(fit->split.train_count, sizeof(*fit->order));
    fit->epoch = UINT64_MAX;
    fit->epoch_batches = (fit->split.train_count + n - 1) / n;
    fit->steps = options->epochs * fit->epoch_batches;
    fit->ids = mem_calloc(RECOMMENDER_FIELDS * n, sizeof(*fit->ids));
    fit->batch_ratings = mem_calloc(n, sizeof(*fit->batch_ratings));
    fit->rows = mem_calloc(RECOMMENDER_FIELDS * n * row, sizeof(*fit->rows));
    fit->d_rows = mem_calloc(RECOMMENDER_FIELDS * n * row, sizeof(*fit->d_rows));
    recommender_batch_initialise(fit->batch, options->fit.seed, mean_label(fit));

    struct params *dense = recommender_batch_params(fit->batch);
    struct ps_update update = {.rule = PS_ADAGRAD, .accumulator = options->accumulator};
    struct ps_table table = {
        .dimensions = (int)row,
        .range = options->range,
        .seed = options->fit.seed,
        .update = {.rule = PS_ADAGRAD, .accumulator = options->accumulator_rows},
    };
    result = ps_dense_open(fit->cluster->client, dense->floats, dense->values, &update, err);
    if (result == 0)
        result = ps_table_open(fit->cluster->client, &table, &fit->table, err);
    return result;
}

/* Sets *ret to the positions of the ratings of batch `step`, counted from 0, and returns their
 * number. The order of an epoch depends only on the seed and on the number of the epoch. */
static size_t batch_positions(struct recommender_run *fit, uint64_t step, const size_t **ret)
{
    uint64_t epoch = step / fit->epoch_batches;
    size_t first = (size_t)(step % fit->epoch_batches) * (size_t)fit->options->batch;
    size_t count = fit->split.train_count, left = count - first;
    if (epoch != fit->epoch) {
        dataset_shuffle(fit->options->fit.seed, epoch, count, fit->order);
        for (size_t i = 0; i < count; i++)
            fit->order[i] = fit->split.train[fit->order[i]];
        fit->epoch = epoch;
    }
    *ret = fit->order + first;
    return left < (size_t)fit->options->batch ? left : (size_t)fit->options->batch;
}

int recommender_run_batch(struct recommender_run *fit, uint64_t step, double *ret_loss,
                          struct err *err)
{
    const struct recommender_fit_options *options = fit->options;
    struct ps_client *client = fit->cluster->client;
    struct params *dense = recommender_batch_params(fit->batch);
    const size_t *positions;
    size_t n = batch_positions(fit, step, &positions), ids = RECOMMENDER_FIELDS * n;
    recommender_gather(&options->model, fit->ratings, positions, n, fit->ids, fit->batch_ratings);
    int result = ps_dense_pull(client, dense->values, err);
    if (result == 0)
        result = ps_rows_pull(client, fit->table, fit->ids, ids, fit->rows, err);
    if (result < 0)
        return result;
    recommender_batch_changed(fit->batch);
    *ret_loss =
        recommender_batch_gradients(fit->batch, fit->rows, fit->batch_ratings, (int)n, fit->d_rows);
    result = ps_rows_push(client, fit->table, fit->ids, ids, fit->d_rows, options->rate, err);
    if (result == 0)
        result = ps_dense_push(client, dense->gradients, options->rate, err);
    return result;
}

static bool is_stop_requested(const struct recommender_run *fit)
{
    return fit->options->fit.stop && *fit->options->fit.stop;
}

/* Logs the progress of all workers together. */
static void show_batch(struct recommender_run *fit, uint64_t taken, double loss)
{
    uint64_t more = taken > fit->shown ? taken - fit->shown : 1;
    run_log_step(fit->log, &(struct progress_step){.step = taken,
                                                   .loss = loss,
                                                   .pictures = more * (uint64_t)fit->options->batch,
                                                   .rate = (double)fit->options->rate,
                                                   .accuracy = (double)NAN});
    fit->shown = taken;
}

/* Takes batches from the counter until none is left or a stop is requested. At the end waits until
 * the servers have applied all gradients of this worker. */
static int run_batches(struct recommender_run *fit, struct recommender_fit_result *outcome,
                       struct err *err)
{
    for (;;) {
        uint64_t taken;
        if (is_stop_requested(fit)) {
            outcome->stopped = true;
            return 0;
        }
        int result = ps_count(fit->cluster->client, PS_COUNTER_STEP, 1, &taken, err);
        if (result < 0)
            return result;
        if (taken > fit->steps)
            break;
        result = recommender_run_batch(fit, taken - 1, &outcome->loss, err);
        if (result < 0)
            return err_wrap(err, "batch %llu", (unsigned long long)taken);
        outcome->own_steps++;
        outcome->steps = taken;
        show_batch(fit, taken, outcome->loss);
    }
    outcome->steps = fit->steps;
    return ps_flush(fit->cluster->client, err);
}

/* Waits until all workers have reported that they have finished. Called on the chief. If a server
 * has restarted with an older batch counter, the chief computes the missing batches. */
static int wait_for_others(struct recommender_run *fit, struct recommender_fit_result *outcome,
                           struct err *err)
{
    struct ps_client *client = fit->cluster->client;
    int64_t reported_ms = moment_monotonic_ms();
    for (;;) {
        uint64_t done, taken;
        int result = ps_count(client, PS_COUNTER_DONE, 0, &done, err);
        if (result == 0)
            result = ps_count(client, PS_COUNTER_STEP, 0, &taken, err);
        if (result == 0 && taken < fit->steps)
            result = run_batches(fit, outcome, err);
        if (result < 0 || outcome->stopped || done >= fit->cluster->workers)
            return result;
        if (is_stop_requested(fit)) {
            outcome->stopped = true;
            return 0;
        }
        if (moment_monotonic_ms() - reported_ms >= WAIT_REPORT_MS) {
            reported_ms = moment_monotonic_ms();
            run_log_note(fit->log, "waiting",
                         "waiting for %zu of %zu workers to finish their last batch",
                         fit->cluster->workers - (size_t)done, fit->cluster->workers);
        }
        nanosleep(&(struct timespec){.tv_nsec = WAIT_STEP_MS * 1000000}, NULL);
    }
}

static int recommender_fit_write(struct recommender_run *fit,
                                 struct recommender_fit_result *outcome, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_(recommender_rows_release) struct recommender_rows rows = {0};
    const struct recommender_fit_options *options = fit->options;
    struct json *notes = json_object(arena);
    if (outcome->evaluated)
        json_set(arena, notes, "test", recommender_eval_to_json(arena, &outcome->eval));
    struct checkpoint_info info = {
        .notes = notes, .step = outcome->steps, .seed = options->fit.seed};
    char path[CHECKPOINT_PATH_MAX];
    recommender_fit_model_path(options->fit.model_dir, path, sizeof(path));
    int result = file_make_dirs(options->fit.model_dir, 0755, err);
    if (result == 0)
        result = recommender_rows_collect(fit->cluster->client, fit->table,
                                          recommender_row_floats(&options->model), &rows, err);
    if (result == 0)
        result = recommender_model_write(path, &options->model,
                                         recommender_batch_params(fit->batch), &rows, &info, err);
    outcome->rows = rows.count;
    return result;
}

int recommender_run_conclude(struct recommender_run *fit, struct recommender_fit_result *outcome,
                             struct err *err)
{
    int result = recommender_eval_run(fit->batch, &fit->options->model, fit->cluster->client,
                                      fit->table, fit->ratings, fit->split.test,
                                      fit->split.test_count, &outcome->eval, err);
    outcome->evaluated = result == 0 && fit->split.test_count > 0;
    if (outcome->evaluated) {
        char text[512];
        run_log_metric(fit->log, outcome->steps, "auc", outcome->eval.auc);
        recommender_eval_sentence(&outcome->eval, text, sizeof(text));
        run_log_result(fit->log, text);
    }
    if (result == 0 && fit->options->fit.model_dir)
        result = recommender_fit_write(fit, outcome, err);
    return result;
}

/* Creates the log. Every worker shows its progress; only the chief writes files. */
static void make_log(struct recommender_run *fit)
{
    const struct recommender_fit_options *options = fit->options;
    fit->log =
        run_log_new(&options->fit.log,
                    &(struct run_log_subject){.model = RECOMMENDER_MODEL.command.name,
                                              .directory = options->fit.model_dir,
                                              .unit = RECOMMENDER_MODEL.unit,
                                              .steps_per_epoch = (double)fit->epoch_batches});
    run_log_set_role(fit->log, true, fit->cluster->chief);
}

void recommender_run_sentence(const struct recommender_run *fit, char *text, size_t size)
{
    const struct recommender_fit_options *options = fit->options;
    size_t workers = fit->cluster->workers, servers = ps_client_servers(fit->cluster->client);
    char shared[48] = "one row each";
    if (options->model.buckets)
        snprintf(shared, sizeof(shared), "sharing %lld rows", (long long)options->model.buckets);
    snprintf(text, size,
             "recommender %s: %zu users and %zu items, %s; %zu ratings to train on, %zu to "
             "evaluate on; %zu worker%s, %zu parameter server%s",
             recommender_kind_name(options->model.kind), ratings_users(fit->ratings),
             ratings_items(fit->ratings), shared, fit->split.train_count, fit->split.test_count,
             workers, workers == 1 ? "" : "s", servers, servers == 1 ? "" : "s");
}

static void show_start(struct recommender_run *fit, uint64_t first)
{
    fit->shown = first;
    run_log_begin(fit->log, first, fit->steps);
    if (fit->cluster->chief) {
        char text[RECOMMENDER_SENTENCE_MAX];
        recommender_run_sentence(fit, text, sizeof(text));
        run_log_note(fit->log, "start", "%s", text);
    }
    /* The note is left out if the other workers did only a few batches while this worker
     * started. */
    if (first > 4 * fit->cluster->workers)
        run_log_note(fit->log, "joined", "%llu of %llu batches are done already",
                     (unsigned long long)first, (unsigned long long)fit->steps);
}

/* Trains with servers: takes batches until none is left. On the chief, then waits for the other
 * workers, evaluates the model and writes it. */
static int run_with_servers(struct recommender_run *fit, struct recommender_fit_result *outcome,
                            struct err *err)
{
    struct ps_client *client = fit->cluster->client;
    uint64_t done;
    int result = ps_count(client, PS_COUNTER_STEP, 0, &outcome->steps, err);
    if (result < 0)
        return result;
    show_start(fit, outcome->steps < fit->steps ? outcome->steps : fit->steps);
    result = run_batches(fit, outcome, err);
    if (result == 0 && !outcome->stopped)
        result = ps_count(client, PS_COUNTER_DONE, 1, &done, err);
    /* The servers save the counters, so that they know after a restart which batches and workers
     * are done. */
    if (result == 0)
        result = ps_save(client, err);
    if (result == 0 && !outcome->stopped && fit->cluster->chief)
        result = wait_for_others(fit, outcome, err);
    if (result == 0 && !outcome->stopped && fit->cluster->chief) {
        if (fit->shown < fit->steps && outcome->own_steps > 0)
            show_batch(fit, fit->steps, outcome->loss);
        result = recommender_run_conclude(fit, outcome, err);
    }
    if (result == 0 && !outcome->stopped)
        result = ps_client_finish(client, err);
    return result;
}

int recommender_fit(const struct recommender_fit_options *options, const struct ratings *ratings,
                    const struct recommender_fit_cluster *cluster,
                    struct recommender_fit_result *ret, struct err *err)
{
    struct recommender_fit_result outcome = {0};
    _cleanup_(recommender_fit_release) struct recommender_run fit = {
        .options = options, .ratings = ratings, .cluster = cluster, .claim = -1};
    int result = recommender_fit_start(&fit, err);
    bool alone = result == 0 && ps_client_servers(cluster->client) == 0;
    if (result == 0)
        make_log(&fit);
    if (result == 0)
        result = alone ? recommender_run_alone(&fit, &outcome, err)
                       : run_with_servers(&fit, &outcome, err);
    if (result == -ERR_CANCELED && is_stop_requested(&fit)) { /* the servers were stopped, too */
        outcome.stopped = true;
        result = 0;
        err_clear(err);
    }
    if (result == 0 && outcome.stopped && !alone)
        run_log_note(fit.log, "stopped", "stopped after batch %llu of %llu",
                     (unsigned long long)outcome.steps, (unsigned long long)fit.steps);
    if (result == 0)
        *ret = outcome;
    return result;
}

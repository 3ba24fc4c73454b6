/* Implements the training of a classifier with parameter servers; see fit.h. The servers hold the
 * variables. A worker takes the number of its next step from the counter on server 0, so no two
 * workers compute the same step. The run ends for each worker when the counter has passed the last
 * step. A restarted worker takes the next step from the counter; the step that it had taken before
 * is lost. */
#include "models/classifier/fit_internal.h"

#include "train/run/model_dir.h"

#include <math.h>

/* The part of one process in a training run with parameter servers. */
struct async_run {
    struct classifier_fit *fit;
    struct ps_client *client;
    uint64_t shown; /* highest step that was logged */
};

static int open_variables(struct async_run *run, struct err *err)
{
    const struct classifier_fit_options *options = run->fit->options;
    const struct params *params = classifier_model_params(run->fit->model);
    struct ps_update update = {.rule = options->optimizer == OPTIMIZER_SGD ? PS_SGD : PS_ADAGRAD,
                               .accumulator = OPTIMIZER_ADAGRAD_START};
    return ps_dense_open(run->client, params->floats, params->values, &update, err);
}

static int pull_variables(struct async_run *run, struct err *err)
{
    struct params *params = classifier_model_params(run->fit->model);
    int result = ps_dense_pull(run->client, params->values, err);
    if (result == 0)
        classifier_model_changed(run->fit->model);
    return result;
}

/* Computes the gradient of one step and pushes it to the servers. */
static int run_step(struct async_run *run, uint64_t step, double *ret_loss, double *ret_accuracy,
                    struct err *err)
{
    struct classifier_fit *fit = run->fit;
    struct params *params = classifier_model_params(fit->model);
    struct softmax_result batch = {0};
    int result = pull_variables(run, err);
    if (result == 0)
        result = classifier_trainer_gradient(fit->trainer, step, &batch, err);
    if (result < 0)
        return result;
    double loss = (double)batch.loss / ((double)SOFTMAX_UNITS * fit->options->batch);
    result = classifier_fit_check_loss(loss, err);
    if (result < 0)
        return result;
    classifier_trainer_learn(fit->trainer);
    optimizer_clip(params, fit->options->fit.clip); /* each worker clips its own gradient */
    *ret_loss = loss;
    *ret_accuracy = (double)batch.right / fit->options->batch;
    return ps_dense_push(run->client, params->gradients,
                         optimizer_schedule_rate(&fit->schedule, step), err);
}

/* Logs the progress of all workers: the step numbers come from the counter that all workers
 * share. */
static void show_step(struct async_run *run, uint64_t step, double loss, double accuracy)
{
    if (step <= run->shown)
        return;
    struct progress_step shown = {
        .step = step,
        .loss = loss,
        .pictures = (step - run->shown) * (uint64_t)run->fit->options->batch,
        .rate = (double)optimizer_schedule_rate(&run->fit->schedule, step),
        .accuracy = accuracy,
    };
    run->shown = step;
    run_log_step(run->fit->log, &shown);
}

static bool is_stop_requested(const struct async_run *run)
{
    const volatile sig_atomic_t *stop = run->fit->options->fit.stop;
    return stop && *stop;
}

/* Returns whether the servers must save after step `step`: this process is the chief, and a
 * multiple of checkpoint_every has been passed since step `saved`, at which the servers saved
 * before. */
static bool is_time_to_save(const struct async_run *run, bool chief, uint64_t saved, uint64_t step)
{
    uint64_t every = run->fit->options->fit.checkpoint_every;
    return chief && every && step / every > saved / every;
}

/* Takes steps from the counter until no step is left or a stop is requested. The chief makes the
 * servers save from time to time. */
static int run_steps(struct async_run *run, bool chief, struct classifier_fit_result *outcome,
                     struct err *err)
{
    uint64_t steps = run->fit->options->steps, step, saved = outcome->first;
    double accuracy = 0;
    for (outcome->last = outcome->first;;) {
        if (is_stop_requested(run)) {
            outcome->stopped = true;
            int result = chief ? ps_save(run->client, err) : ps_flush(run->client, err);
            if (result == 0)
                run_log_note(run->fit->log, "stopped",
                             "stopped after step %llu; the servers keep what was learned",
                             (unsigned long long)outcome->last);
            return result;
        }
        int result = ps_count(run->client, PS_COUNTER_STEP, 1, &step, err);
        if (result == 0 && step > steps)
            return ps_flush(run->client, err);
        if (result == 0)
            result = run_step(run, step, &outcome->loss, &accuracy, err);
        if (result < 0)
            return err_wrap(err, "step %llu", (unsigned long long)outcome->last + 1);
        outcome->last = step;
        show_step(run, step, outcome->loss, accuracy);
        if (is_time_to_save(run, chief, saved, step)) {
            saved = step;
            result = ps_save(run->client, err);
            if (result < 0)
                return result;
            run_log_saved(run->fit->log, step);
        }
    }
}

/* Sends the initial values to the servers if they have none, reads the step counter and logs the
 * start. */
static int begin_run(struct async_run *run, bool chief, size_t workers,
                     struct classifier_fit_result *outcome, struct err *err)
{
    const struct classifier_fit_options *options = run->fit->options;
    int result = open_variables(run, err);
    if (result == 0)
        result = ps_count(run->client, PS_COUNTER_STEP, 0, &outcome->first, err);
    if (result < 0)
        return result;
    struct run_log *log = run->fit->log;
    uint64_t first = outcome->first < options->steps ? outcome->first : options->steps;
    char start[256];
    run->shown = first;
    classifier_fit_sentence(run->fit, workers, ps_client_servers(run->client), start,
                            sizeof(start));
    run_log_set_role(log, chief, chief);
    run_log_begin(log, first, options->steps);
    run_log_note(log, "start", "%s", start);
    if (first)
        run_log_note(log, "resumed", "the servers are at step %llu", (unsigned long long)first);
    if (first == options->steps)
        run_log_note(log, "done",
                     "all %llu steps are done already: to train further, raise --steps; to start "
                     "again, use another --model-dir",
                     (unsigned long long)first);
    return 0;
}

/* Evaluates and writes the model on the chief, once the counter has passed the last step. */
static int conclude_run(struct async_run *run, struct classifier_fit_result *outcome,
                        struct err *err)
{
    int result = pull_variables(run, err);
    outcome->last = run->fit->options->steps;
    show_step(run, outcome->last, outcome->loss, (double)NAN);
    if (result == 0)
        result = classifier_fit_conclude(run->fit, outcome, err);
    return result;
}

int classifier_fit_async(const struct classifier_fit_options *options, struct ps_client *client,
                         bool chief, size_t workers, struct classifier_fit_result *ret,
                         struct err *err)
{
    struct classifier_fit_result outcome = {0};
    _cleanup_(classifier_fit_release) struct classifier_fit fit = {.options = options, .claim = -1};
    struct async_run run = {.fit = &fit, .client = client};
    int result = classifier_fit_start(&fit, 0, 1, chief, err);
    if (result == 0 && chief && options->fit.model_dir)
        result = model_dir_claim(options->fit.model_dir, 0, &fit.claim, err);
    if (result >= 0) /* 1: the directory cannot be locked, which is no error */
        result = begin_run(&run, chief, workers, &outcome, err);
    if (result == 0)
        result = run_steps(&run, chief, &outcome, err);
    if (result == 0 && chief && !outcome.stopped)
        result = conclude_run(&run, &outcome, err);
    if (result == 0 && !outcome.stopped)
        result = ps_client_finish(client, err);
    if (result == -ERR_CANCELED && is_stop_requested(&run)) { /* the servers were stopped, too */
        outcome.stopped = true;
        result = 0;
        err_clear(err);
    }
    if (result < 0) {
        classifier_fit_result_release(&outcome);
        return result;
    }
    *ret = outcome;
    return 0;
}

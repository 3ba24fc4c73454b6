/* Training a classifier with parameter servers; see classifier_fit.h. The variables live at the
 * servers. A worker takes the number of its next step from the count at server 0, so every batch is
 * shown once whoever works on it, and the run ends for all when the count passes the last step. A
 * worker that was killed just takes the next one when it is back. */
#include "models/classifier/fit_internal.h"

#include "train/run/model_dir.h"

#include <math.h>

struct course {
    struct classifier_fit *fit;
    struct ps_client *client;
    uint64_t shown; /* the last step that was told */
};

static int open_variables(struct course *course, struct err *err)
{
    const struct classifier_fit_options *options = course->fit->options;
    const struct params *params = classifier_model_params(course->fit->model);
    struct ps_update update = {.rule = options->optimizer == OPTIMIZER_SGD ? PS_SGD : PS_ADAGRAD,
                               .accumulator = OPTIMIZER_ADAGRAD_START};
    return ps_dense_open(course->client, params->floats, params->values, &update, err);
}

static int pull(struct course *course, struct err *err)
{
    struct params *params = classifier_model_params(course->fit->model);
    int result = ps_dense_pull(course->client, params->values, err);
    if (result == 0)
        classifier_model_changed(course->fit->model);
    return result;
}

static int one_step(struct course *course, uint64_t step, double *ret_loss, double *ret_accuracy,
                    struct err *err)
{
    struct classifier_fit *fit = course->fit;
    struct params *params = classifier_model_params(fit->model);
    struct softmax_result own = {0};
    int result = pull(course, err);
    if (result == 0)
        result = classifier_trainer_gradient(fit->trainer, step, &own, err);
    if (result < 0)
        return result;
    double loss = (double)own.loss / ((double)SOFTMAX_UNITS * fit->options->batch);
    result = classifier_fit_check_loss(loss, err);
    if (result < 0)
        return result;
    classifier_trainer_learn(fit->trainer);
    optimizer_clip(params, fit->options->fit.clip); /* each worker its own */
    *ret_loss = loss;
    *ret_accuracy = (double)own.right / fit->options->batch;
    return ps_dense_push(course->client, params->gradients, schedule_rate(&fit->schedule, step),
                         err);
}

/* Steps of others count as well: the chief sees by its own numbers how far all have come. */
static void tell(struct course *course, uint64_t step, double loss, double accuracy)
{
    if (step <= course->shown)
        return;
    struct progress_step shown = {
        .step = step,
        .loss = loss,
        .pictures = (step - course->shown) * (uint64_t)course->fit->options->batch,
        .rate = (double)schedule_rate(&course->fit->schedule, step),
        .accuracy = accuracy,
    };
    course->shown = step;
    run_log_step(course->fit->log, &shown);
}

static bool stop_asked(const struct course *course)
{
    const volatile sig_atomic_t *stop = course->fit->options->fit.stop;
    return stop && *stop;
}

/* Whether the chief lets the servers save after this step of its own; `saved` is the last time. */
static bool is_time_to_save(const struct course *course, bool chief, uint64_t saved, uint64_t step)
{
    uint64_t every = course->fit->options->fit.checkpoint_every;
    return chief && every && step / every > saved / every;
}

static int run_steps(struct course *course, bool chief, struct classifier_fit_result *result,
                     struct err *err)
{
    uint64_t steps = course->fit->options->steps, step, saved = result->first;
    double accuracy = 0;
    for (result->last = result->first;;) {
        if (stop_asked(course)) {
            result->stopped = true;
            int failed = chief ? ps_save(course->client, err) : ps_flush(course->client, err);
            if (failed == 0)
                run_log_note(course->fit->log, "stopped",
                             "stopped after step %llu; the servers keep what was learned",
                             (unsigned long long)result->last);
            return failed;
        }
        int failed = ps_count(course->client, PS_COUNTER_STEP, 1, &step, err);
        if (failed == 0 && step > steps)
            return ps_flush(course->client, err);
        if (failed == 0)
            failed = one_step(course, step, &result->loss, &accuracy, err);
        if (failed < 0)
            return err_wrap(err, "step %llu", (unsigned long long)result->last + 1);
        result->last = step;
        tell(course, step, result->loss, accuracy);
        if (is_time_to_save(course, chief, saved, step)) {
            saved = step;
            failed = ps_save(course->client, err);
            if (failed < 0)
                return failed;
            run_log_saved(course->fit->log, step);
        }
    }
}

static int begin(struct course *course, bool chief, size_t workers,
                 struct classifier_fit_result *result, struct err *err)
{
    const struct classifier_fit_options *options = course->fit->options;
    int failed = open_variables(course, err);
    if (failed == 0)
        failed = ps_count(course->client, PS_COUNTER_STEP, 0, &result->first, err);
    if (failed < 0)
        return failed;
    struct run_log *log = course->fit->log;
    uint64_t first = result->first < options->steps ? result->first : options->steps;
    char start[256];
    course->shown = first;
    classifier_fit_sentence(course->fit, workers, ps_client_servers(course->client), start,
                            sizeof(start));
    run_log_speak(log, chief, chief);
    run_log_begin(log, first, options->steps);
    run_log_note(log, "start", "%s", start);
    if (first)
        run_log_note(log, "resumed", "the servers are at step %llu", (unsigned long long)first);
    if (first == options->steps)
        run_log_note(log, "done",
                     "all %llu steps were done before: to train further raise --steps, to train "
                     "anew use another --model-dir",
                     (unsigned long long)first);
    return 0;
}

/* The chief, once the count has passed the last step. */
static int conclude(struct course *course, struct classifier_fit_result *result, struct err *err)
{
    int failed = pull(course, err);
    result->last = course->fit->options->steps;
    tell(course, result->last, result->loss, (double)NAN);
    if (failed == 0)
        failed = classifier_fit_conclude(course->fit, result, err);
    return failed;
}

int classifier_fit_async(const struct classifier_fit_options *options, struct ps_client *client,
                         bool chief, size_t workers, struct classifier_fit_result *ret,
                         struct err *err)
{
    struct classifier_fit_result result = {0};
    _cleanup_(classifier_fit_release) struct classifier_fit fit = {.options = options, .claim = -1};
    struct course course = {.fit = &fit, .client = client};
    int failed = classifier_fit_start(&fit, 0, 1, chief, err);
    if (failed == 0 && chief && options->fit.model_dir)
        failed = model_dir_claim(options->fit.model_dir, 0, &fit.claim, err);
    if (failed >= 0) /* one that cannot be locked is written to all the same */
        failed = begin(&course, chief, workers, &result, err);
    if (failed == 0)
        failed = run_steps(&course, chief, &result, err);
    if (failed == 0 && chief && !result.stopped)
        failed = conclude(&course, &result, err);
    if (failed == 0 && !result.stopped)
        failed = ps_client_finish(client, err);
    if (failed == -ERR_CANCELED && stop_asked(&course)) { /* the servers are stopped, too */
        result.stopped = true;
        failed = 0;
        err_clear(err);
    }
    if (failed < 0) {
        classifier_fit_result_release(&result);
        return failed;
    }
    *ret = result;
    return 0;
}

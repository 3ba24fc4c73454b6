/* Implements the beginning and the end of a training run of a classifier, and the synchronous mode;
 * see fit.h and fit_internal.h. */
#include "models/classifier/fit_internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "train/run/checkpoint.h"
#include "train/run/model_versions.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int classifier_fit_check(const struct classifier_fit_options *options, bool servers,
                         struct err *err)
{
    if (servers && options->optimizer == OPTIMIZER_ADAM)
        return err_set(err, ERR_UNSUPPORTED,
                       "parameter servers do not support the optimizer 'adam': use --optimizer "
                       "adagrad or sgd");
    if (!(options->rate > 0 && options->rate <= 100))
        return err_set(err, ERR_INVALID,
                       "the learning rate is %g, but must be above 0 and at most 100",
                       (double)options->rate);
    if (options->batch < 1 || options->batch > CLASSIFIER_BATCH_MAX)
        return err_set(err, ERR_INVALID, "the batch has %d pictures, but must have 1 to %d",
                       options->batch, CLASSIFIER_BATCH_MAX);
    return optimizer_clip_check(options->fit.clip, err);
}

size_t classifier_fit_numbers(const struct classifier_fit_options *options,
                              uint64_t ret[MODEL_NUMBERS_MAX])
{
    const uint64_t numbers[] = {
        (uint64_t)options->kind,
        (uint64_t)options->precision,
        options->fit.seed,
        options->steps,
        (uint64_t)options->batch,
        (uint64_t)options->optimizer,
        (uint64_t)options->schedule,
        model_hash_float(options->rate),
        model_hash_float(options->fit.clip),
        options->warm_up,
    };
    memcpy(ret, numbers, sizeof(numbers));
    return ARRAY_SIZE(numbers);
}

size_t classifier_fit_numbers_data(const struct classifier_fit_options *options,
                                   const struct idx *train, uint64_t ret[MODEL_NUMBERS_MAX])
{
    uint64_t option_numbers[MODEL_NUMBERS_MAX];
    const uint64_t numbers[] = {
        model_hash(option_numbers, classifier_fit_numbers(options, option_numbers)),
        train->count,
        (uint64_t)train->height,
        (uint64_t)train->width,
        (uint64_t)train->classes,
    };
    memcpy(ret, numbers, sizeof(numbers));
    return ARRAY_SIZE(numbers);
}

void classifier_fit_model_path(const char *model_dir, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", model_dir, CLASSIFIER_MODEL_FILE);
}

static int classifier_fit_open_test(struct classifier_fit *fit, struct err *err)
{
    const char *data = fit->options->data;
    int result = idx_open(data, IDX_TEST, &fit->test, err);
    if (result == 0 &&
        classifier_eval_check(classifier_model_config(fit->model), fit->test, err) < 0)
        result = err_wrap(err, "the test pictures of '%s'", data);
    return result;
}

int classifier_fit_start(struct classifier_fit *fit, int rank, int size, bool evaluates,
                         struct err *err)
{
    const struct classifier_fit_options *options = fit->options;
    int result = classifier_fit_check(options, !fit->reducer, err);
    if (result == 0 && !options->train)
        result = idx_open(options->data, IDX_TRAIN, &fit->train_owned, err);
    if (result < 0)
        return result;
    fit->train = options->train ? options->train : fit->train_owned;
    if (fit->train->height != fit->train->width)
        return err_set(err, ERR_UNSUPPORTED, "pictures of %d×%d in '%s' are not square",
                       fit->train->width, fit->train->height, options->data);
    struct classifier_config config = {.kind = options->kind,
                                       .side = fit->train->height,
                                       .channels = 1,
                                       .classes = fit->train->classes,
                                       .precision = options->precision};
    result = classifier_model_new(&config, &fit->model, err);
    if (result < 0)
        return err_wrap(err, "'%s'", options->data);
    if (evaluates && (result = classifier_fit_open_test(fit, err)) < 0)
        return result;
    for (int i = 0; i < config.classes; i++) {
        char label[CLASSIFIER_LABEL_MAX];
        classifier_model_set_label(fit->model, i,
                                   idx_label_name(options->data, i, label, sizeof(label)));
    }
    params_initialise(classifier_model_params(fit->model), options->fit.seed);
    classifier_model_changed(fit->model);
    fit->schedule = (struct schedule){.kind = options->schedule,
                                      .rate = options->rate,
                                      .warm_up = options->warm_up,
                                      .steps = options->steps};
    struct classifier_trainer_options trainer = {.seed = options->fit.seed,
                                                 .batch = options->batch,
                                                 .rank = rank,
                                                 .size = size,
                                                 .reducer = fit->reducer,
                                                 .threads = options->fit.threads,
                                                 /* Servers assign the steps, so no batch can be
                                                  * prepared in advance. */
                                                 .loaders =
                                                     fit->reducer ? options->fit.loaders : 0};
    fit->log = run_log_new(
        &options->fit.log,
        &(struct run_log_subject){.model = CLASSIFIER_MODEL.command.name,
                                  .directory = options->fit.model_dir,
                                  .unit = CLASSIFIER_MODEL.unit,
                                  .steps_per_epoch = (double)fit->train->count / options->batch});
    return classifier_trainer_new(&trainer, fit->model, fit->train, &fit->trainer, err);
}

void classifier_fit_release(struct classifier_fit *fit)
{
    if (fit->claim >= 0)
        close(fit->claim);
    run_log_free(fit->log);
    classifier_trainer_free(fit->trainer);
    optimizer_free(fit->optimizer);
    classifier_model_free(fit->model);
    idx_free(fit->train_owned);
    idx_free(fit->test);
}

void classifier_fit_sentence(const struct classifier_fit *fit, size_t workers, size_t servers,
                             char *text, size_t size)
{
    const struct classifier_config *config = classifier_model_config(fit->model);
    char with[64] = "", kernels[64];
    kernels_sentence(config->precision, kernels, sizeof(kernels));
    if (servers)
        snprintf(with, sizeof(with), ", %zu parameter server%s", servers, servers == 1 ? "" : "s");
    snprintf(text, size,
             "%s classifier: %zu parameters, %zu pictures of %d×%d, %d classes, %zu worker%s%s, "
             "kernels %s",
             classifier_kind_name(config->kind),
             params_trainable(classifier_model_params(fit->model)), fit->train->count, config->side,
             config->side, config->classes, workers, workers == 1 ? "" : "s", with, kernels);
}

int classifier_fit_check_loss(double loss, struct err *err)
{
    if (loss < SOFTMAX_LOSS_MAX / 2.0)
        return 0;
    return err_set(err, ERR_INVALID, "the loss is nan or infinite");
}

/* The context of classifier_fit_write(). */
struct model_writer {
    const struct classifier_fit *fit;
    uint64_t step;
};

static int classifier_fit_write(void *context, const char *path, struct err *err)
{
    const struct model_writer *writer = context;
    return classifier_model_save(writer->fit->model, path, writer->step,
                                 writer->fit->options->fit.seed, err);
}

int classifier_fit_conclude(struct classifier_fit *fit, struct classifier_fit_result *outcome,
                            struct err *err)
{
    const struct classifier_fit_options *options = fit->options;
    struct model_writer writer = {.fit = fit, .step = outcome->last};
    int result = classifier_eval_run(fit->model, fit->test, &outcome->eval, err);
    if (result < 0)
        return result;
    outcome->evaluated = true;
    run_log_metric(fit->log, outcome->last, "test-accuracy", outcome->eval.accuracy);
    char text[128];
    classifier_eval_sentence(&outcome->eval, text, sizeof(text));
    run_log_result(fit->log, text);
    classifier_model_set_accuracy(fit->model, outcome->eval.accuracy);
    if (options->fit.model_dir) {
        char path[CHECKPOINT_PATH_MAX];
        classifier_fit_model_path(options->fit.model_dir, path, sizeof(path));
        result = classifier_fit_write(&writer, path, err);
    }
    if (result == 0 && options->export_dir) {
        result = model_versions_publish(options->export_dir, CLASSIFIER_MODEL_FILE,
                                        moment_wall_ms() / 1000, classifier_fit_write, &writer,
                                        &outcome->version, err);
        if (result < 0)
            return err_wrap(err, "cannot export the model");
    }
    return result;
}

/* ---- Synchronous training */

/* The positions of the floats that follow the gradients and are summed with them over the workers.
 * A worker sets TAIL_STOP to 1 if it was asked to stop, and TAIL_JOIN_REQUESTED to 1 if it knows of
 * a new worker that waits to join. Otherwise it sets 0. TAIL_RIGHT is the number of correct
 * predictions. From TAIL_LOSS on, TAIL_DIGITS floats have the loss, split into digits of DIGIT_BITS
 * bits so that the sum of each digit is exact. */
enum { TAIL_STOP, TAIL_JOIN_REQUESTED, TAIL_RIGHT, TAIL_LOSS, TAIL_DIGITS = 3, DIGIT_BITS = 16 };

static int classifier_fit_step(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                               struct err *err)
{
    struct classifier_fit *fit = context;
    struct params *params = classifier_model_params(fit->model);
    struct softmax_result share;
    float join_requested =
        reducer_join_requested(fit->reducer); /* must be called before any sum is begun */
    int result = classifier_trainer_gradient(fit->trainer, step, &share, err);
    if (result < 0)
        return result;
    float *tail = params->gradients + params->floats;
    tail[TAIL_STOP] = stop ? 1 : 0;
    tail[TAIL_JOIN_REQUESTED] = join_requested;
    tail[TAIL_RIGHT] = (float)share.right;
    for (int i = 0; i < TAIL_DIGITS; i++)
        tail[TAIL_LOSS + i] = (float)(share.loss >> i * DIGIT_BITS & ((1 << DIGIT_BITS) - 1));
    result = classifier_trainer_reduce(fit->trainer, err);
    if (result < 0)
        return result;
    double loss = 0;
    for (int i = TAIL_DIGITS - 1; i >= 0; i--)
        loss = loss * (1 << DIGIT_BITS) + (double)tail[TAIL_LOSS + i];
    loss /= (double)SOFTMAX_UNITS * fit->options->batch;
    /* The loss is equal on all workers, so all workers fail here. */
    result = classifier_fit_check_loss(loss, err);
    if (result < 0)
        return result;
    classifier_trainer_learn(fit->trainer);
    float rate = optimizer_schedule_rate(&fit->schedule, step);
    classifier_trainer_update(fit->trainer, fit->optimizer, fit->options->fit.clip, step, rate);
    *ret = (struct fit_loop_step){.loss = loss,
                                  .rate = rate,
                                  .accuracy = (double)tail[TAIL_RIGHT] / fit->options->batch,
                                  .stop = tail[TAIL_STOP] > 0,
                                  .join_requested = tail[TAIL_JOIN_REQUESTED] > 0};
    return 0;
}

static void classifier_fit_changed(void *context)
{
    struct classifier_fit *fit = context;
    classifier_model_changed(fit->model);
}

static float *classifier_fit_learned(void *context, size_t *ret_count)
{
    struct classifier_fit *fit = context;
    return classifier_trainer_learned(fit->trainer, ret_count);
}

static int classifier_fit_regroup(void *context, struct err *err)
{
    struct classifier_fit *fit = context;
    return classifier_trainer_regroup(fit->trainer, fit->reducer->rank, fit->reducer->size, err);
}

static void classifier_fit_note(void *context, struct arena *arena, struct json *notes)
{
    const struct classifier_fit *fit = context;
    classifier_model_note(fit->model, arena, notes);
}

static struct json *classifier_fit_config(void *context, struct arena *arena)
{
    const struct classifier_fit *fit = context;
    return classifier_config_to_json(arena, classifier_model_config(fit->model));
}

const struct model_steps CLASSIFIER_FIT_STEPS = {
    .step = classifier_fit_step,
    .changed = classifier_fit_changed,
    .learned = classifier_fit_learned,
    .regroup = classifier_fit_regroup,
    .config = classifier_fit_config,
    .note = classifier_fit_note,
};

static int classifier_fit_run(struct classifier_fit *fit, struct classifier_fit_result *outcome,
                              struct err *err)
{
    const struct classifier_fit_options *options = fit->options;
    struct reducer *reducer = fit->reducer;
    int result = classifier_fit_start(fit, reducer->rank, reducer->size, true, err);
    if (result < 0)
        return result;
    fit->optimizer = optimizer_new(options->optimizer, 0, classifier_model_params(fit->model));
    if (options->optimizer == OPTIMIZER_SGD)
        fit->optimizer->momentum = 0; /* as on the parameter servers and in the TFJob workshop */
    char start[256];
    classifier_fit_sentence(fit, (size_t)reducer->size, 0, start, sizeof(start));
    struct fit_loop loop = {
        .model = &CLASSIFIER_MODEL,
        .context = fit,
        .options = &options->fit,
        .steps = options->steps,
        .batch = (size_t)options->batch,
        .log = fit->log,
        .start = start,
        .claim = &fit->claim,
        .reducer = reducer,
        .params = classifier_model_params(fit->model),
        .optimizer = fit->optimizer,
    };
    struct fit_loop_result done;
    result = fit_loop_run(&loop, &done, err);
    if (result < 0)
        return result;
    outcome->first = done.first;
    outcome->last = done.last;
    outcome->stopped = done.stopped;
    outcome->loss = done.loss;
    result = !done.stopped && reducer->rank == 0 ? classifier_fit_conclude(fit, outcome, err) : 0;
    return result < 0 ? result : fit_loop_check_saved(&done, err);
}

int classifier_fit(const struct classifier_fit_options *options, struct reducer *reducer,
                   struct classifier_fit_result *ret, struct err *err)
{
    struct classifier_fit_result outcome = {0};
    _cleanup_(classifier_fit_release) struct classifier_fit fit = {
        .options = options, .reducer = reducer, .claim = -1};
    int result = classifier_fit_run(&fit, &outcome, err);
    if (result < 0) {
        classifier_fit_result_release(&outcome);
        return result;
    }
    *ret = outcome;
    return 0;
}

void classifier_fit_result_release(struct classifier_fit_result *result)
{
    classifier_eval_release(&result->eval);
}

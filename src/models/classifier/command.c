/* Implements the classifier's row in the table of models (CLASSIFIER_MODEL): how `trainer fit
 * classifier` reads its options, opens its pictures, trains (alone, synchronously, or with
 * parameter servers) and reports the result. `trainer fit` calls these functions; see
 * train/run/model.h. The options can also be set by the environment variables of the TFJob
 * workshop, so that the workshop's YAML works unchanged. */
#include "base/mem.h"
#include "base/str.h"
#include "models/classifier/fit.h"
#include "train/run/model_dir.h"

#include <stdio.h>

struct classifier_values {
    struct fit_values shared;
    const char *data, *model, *optimizer, *schedule, *export_dir;
    int64_t steps, epochs, batch, warm_up;
    double rate;
};
FIT_VALUES_FIRST(struct classifier_values);

/* One run of `trainer fit classifier`. */
struct classifier_run {
    struct model_run run;
    struct classifier_fit_options options;
    struct idx *train; /* training pictures; NULL with parameter servers */
    struct classifier_fit_result result;
};

static struct classifier_run *classifier_run_of(struct model_run *run)
{
    return CONTAINER_OF(run, struct classifier_run, run);
}

static const struct classifier_run *classifier_run_of_const(const struct model_run *run)
{
    return CONTAINER_OF(run, const struct classifier_run, run);
}

static enum classifier_kind classifier_kind_of(const char *name)
{
    return str_eq_nocase(name, classifier_kind_name(CLASSIFIER_LINEAR)) ? CLASSIFIER_LINEAR
                                                                        : CLASSIFIER_CNN;
}

static int classifier_kind_check(const char *name, struct err *err)
{
    if (str_eq_nocase(name, classifier_kind_name(classifier_kind_of(name))))
        return 0;
    return err_set(err, ERR_USAGE, "unknown model type '%s': use cnn or linear", name);
}

/* Converts --epochs to steps. Every process must know the number of steps, so with --epochs a
 * parameter server needs the data, too. */
static int classifier_epochs_to_steps(const struct classifier_values *values, uint64_t *ret,
                                      struct err *err)
{
    _cleanup_(cleanup_idx) struct idx *train = NULL;
    int result = idx_open(values->data, IDX_TRAIN, &train, err);
    if (result < 0)
        return err_wrap(err, "cannot convert --epochs %lld to steps", (long long)values->epochs);
    double steps = (double)values->epochs * (double)train->count / (double)values->batch;
    *ret = steps < 1 ? 1 : (uint64_t)(steps + 0.5);
    return 0;
}

static int classifier_options_read(const struct classifier_values *values, bool servers,
                                   struct classifier_fit_options *ret, struct err *err)
{
    struct classifier_fit_options options = CLASSIFIER_FIT_DEFAULT;
    options.fit = fit_options_read(&values->shared);
    options.steps = (uint64_t)values->steps;
    options.batch = (int)values->batch;
    options.precision = str_eq(values->shared.precision, "bf16") ? PRECISION_BF16 : PRECISION_FP32;
    options.optimizer = str_eq(values->optimizer, "sgd")    ? OPTIMIZER_SGD
                        : str_eq(values->optimizer, "adam") ? OPTIMIZER_ADAM
                                                            : OPTIMIZER_ADAGRAD;
    options.schedule = str_eq(values->schedule, "cosine") ? SCHEDULE_COSINE : SCHEDULE_CONSTANT;
    options.rate = values->rate != 0 ? (float)values->rate
                   : servers         ? CLASSIFIER_FIT_RATE_SERVERS
                                     : CLASSIFIER_FIT_RATE;
    options.warm_up = (uint64_t)values->warm_up;
    options.data = values->data;
    options.export_dir = str_is_empty(values->export_dir) ? NULL : values->export_dir;
    options.kind = classifier_kind_of(values->model);
    if (classifier_fit_check(&options, servers, err) < 0)
        return fit_options_refuse(err);
    int result = values->epochs ? classifier_epochs_to_steps(values, &options.steps, err) : 0;
    if (result == 0)
        *ret = options;
    return result;
}

static int classifier_run_init(struct model_run *run, struct err *err)
{
    struct classifier_run *classifier = classifier_run_of(run);
    const struct classifier_values *values =
        CONTAINER_OF(run->values, const struct classifier_values, shared);
    int result = classifier_options_read(values, run->servers, &classifier->options, err);
    run->batch = (size_t)values->batch;
    run->exports = classifier->options.export_dir;
    return result;
}

/* With parameter servers this function does not open the pictures: the worker reads them after it
 * has connected to the servers. */
static int classifier_run_open(struct model_run *run, struct err *err)
{
    struct classifier_run *classifier = classifier_run_of(run);
    struct classifier_fit_options *options = &classifier->options;
    int result = run->chief && options->export_dir ? model_dir_probe(options->export_dir, err) : 0;
    if (result == 0 && !run->servers)
        result = idx_open(options->data, IDX_TRAIN, &classifier->train, err);
    options->train = classifier->train;
    return result;
}

static void classifier_run_terms(const struct model_run *run, struct fit_terms *terms)
{
    const struct classifier_run *classifier = classifier_run_of_const(run);
    char text[IDX_TEXT_MAX];
    fit_terms_set(terms, "model", classifier_kind_name(classifier->options.kind));
    if (!classifier->train)
        return;
    idx_describe(classifier->train, text, sizeof(text));
    fit_terms_set(terms, "data", text);
}

static size_t classifier_run_numbers(const struct model_run *run, bool data,
                                     uint64_t ret[MODEL_NUMBERS_MAX])
{
    const struct classifier_run *classifier = classifier_run_of_const(run);
    return data ? classifier_fit_numbers_data(&classifier->options, classifier->train, ret)
                : classifier_fit_numbers(&classifier->options, ret);
}

/* Writes "Will export model" like the program of the TFJob workshop, because users look for these
 * words in the logs. */
static void classifier_run_announce(const struct model_run *run, struct buf *text)
{
    const char *export_dir = classifier_run_of_const(run)->options.export_dir;
    if (!run->chief)
        buf_printf(text, "Will not export model: the chief does\n");
    else if (export_dir)
        buf_printf(text, "Will export model to %s\n", export_dir);
}

static int classifier_run_train(struct model_run *run, struct err *err)
{
    struct classifier_run *classifier = classifier_run_of(run);
    classifier->options.fit = run->fit;
    int result =
        run->client
            ? classifier_fit_async(&classifier->options, run->client, run->chief,
                                   tf_config_workers(run->cluster), &classifier->result, err)
            : classifier_fit(&classifier->options, run->reducer, &classifier->result, err);
    run->stopped = classifier->result.stopped;
    return result;
}

static bool classifier_run_report(const struct model_run *run, struct arena *arena,
                                  struct json *line, struct buf *text)
{
    const struct classifier_run *classifier = classifier_run_of_const(run);
    const struct classifier_fit_result *result = &classifier->result;
    const char *model_dir = run->fit.model_dir, *export_dir = classifier->options.export_dir;
    char sentence[128], path[4096];
    if (!result->evaluated)
        return false;
    json_set_int(arena, line, "steps", (int64_t)result->last);
    json_set(arena, line, "loss", json_real(arena, result->loss));
    json_set_int(arena, line, "testPictures", (int64_t)result->eval.pictures);
    json_set(arena, line, "testAccuracy", json_real(arena, result->eval.accuracy));
    classifier_eval_sentence(&result->eval, sentence, sizeof(sentence));
    buf_printf(text, "%s\n", sentence);
    if (model_dir) {
        classifier_fit_model_path(model_dir, path, sizeof(path));
        json_set_string(arena, line, "model", path);
        buf_printf(text, "model: %s\n", path);
    }
    if (result->version) {
        json_set_string(arena, line, "exportDir", export_dir);
        json_set_int(arena, line, "version", result->version);
        buf_printf(text, "exported version %lld to %s\n", (long long)result->version, export_dir);
    }
    if (!model_dir && !result->version)
        buf_printf(text, "the model is not kept: neither --model-dir nor --export-dir was given\n");
    return true;
}

static void classifier_run_release(struct model_run *run)
{
    struct classifier_run *classifier = classifier_run_of(run);
    classifier_fit_result_release(&classifier->result);
    idx_free(classifier->train);
}

#define FIELD(name) .offset = offsetof(struct classifier_values, name)

static const struct option CLASSIFIER_OPTIONS[] = {
    {.name = "data",
     .aliases = "data-dir",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = IDX_DIRECTORY_DEFAULT,
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "directory with the four IDX files of MNIST or of a similar data set"},
    {.name = "model",
     .type = OPTION_STRING,
     FIELD(model),
     .environment = "TF_MODEL_TYPE",
     .fallback = "cnn",
     .check = classifier_kind_check,
     .value = "cnn|linear",
     .marks = FIT_KEPT,
     .help = "cnn: two convolutions and a hidden layer; linear: no hidden layer"},
    {.name = "steps",
     .aliases = "train-steps",
     .type = OPTION_INT,
     FIELD(steps),
     .environment = "TF_TRAIN_STEPS",
     .fallback = "200",
     .min = 1,
     .max = 100000000,
     .value = "N",
     .help = "steps of all workers together, including those of a run that is resumed"},
    {.name = "epochs",
     .type = OPTION_INT,
     FIELD(epochs),
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "instead of --steps: passes over the training pictures"},
    {.name = "batch",
     .aliases = "batch-size",
     .type = OPTION_INT,
     FIELD(batch),
     .environment = "TF_BATCH_SIZE",
     .fallback = "100",
     .min = 1,
     .max = 4096,
     .value = "N",
     .help = "pictures per step: of all workers together, or of one worker with parameter servers"},
    {.name = "optimizer",
     .type = OPTION_CHOICE,
     FIELD(optimizer),
     .fallback = "adagrad",
     .choices = "adagrad|sgd|adam",
     .value = "KIND",
     .help = "optimizer; adam does not work with parameter servers"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .environment = "TF_LEARNING_RATE",
     .fallback = "0",
     .range = {0, 100},
     .value = "X",
     .help = "highest learning rate; 0: 0.01, or 0.002 with parameter servers, whose gradients "
             "arrive late"},
    {.name = "schedule",
     .type = OPTION_CHOICE,
     FIELD(schedule),
     .fallback = "constant",
     .choices = "constant|cosine",
     .value = "KIND",
     .help = "schedule of the learning rate after the warm-up"},
    {.name = "warm-up",
     .type = OPTION_INT,
     FIELD(warm_up),
     .fallback = "40",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "steps during which the learning rate rises"},
    {.name = "export-dir",
     .type = OPTION_PATH,
     FIELD(export_dir),
     .environment = "TF_EXPORT_DIR",
     .value = "DIR",
     .marks = FIT_FREE,
     .help =
         "directory to which the chief exports the model as the next version, for 'trainer serve'"},
    {.more = FIT_NETWORK_OPTIONS},
};

const struct model CLASSIFIER_MODEL = {
    .command =
        {
            .name = "classifier",
            .summary = "train a classifier of small pictures (digits, clothes)",
            .description =
                "Trains the network of the TFJob workshop on MNIST, Fashion-MNIST or any data set "
                "in the same format. In a cluster of a chief and workers they train synchronously, "
                "with the same result as one worker. In a cluster with parameter servers, the "
                "servers hold the variables, and chief and workers pull, compute and push without "
                "waiting for each other.\n\nThe chief, or worker 0, shows the progress; at the end "
                "it evaluates the model on the test pictures and, with --export-dir, exports it as "
                "the next version. SIGTERM ends the process with exit code 143. With --model-dir "
                "the run is saved first, unless other workers go on with it; the same command "
                "resumes or joins it.",
            .examples = "trainer fit classifier --model-dir fashion --export-dir export\n"
                        "trainer fit classifier --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 "
                        "--job_name=worker --task_index=0",
            .options = CLASSIFIER_OPTIONS,
            .values_size = sizeof(struct classifier_values),
            .output_is_progress = true,
        },
    .unit = "images",
    .modes = MODEL_TRAINS_SYNCHRONOUSLY | MODEL_TRAINS_WITH_SERVERS,
    .run_size = sizeof(struct classifier_run),
    .steps = &CLASSIFIER_FIT_STEPS,
    .init = classifier_run_init,
    .open = classifier_run_open,
    .terms = classifier_run_terms,
    .numbers = classifier_run_numbers,
    .announce = classifier_run_announce,
    .train = classifier_run_train,
    .report = classifier_run_report,
    .release = classifier_run_release,
};

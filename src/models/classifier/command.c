/* trainer fit classifier: train the classifier of the TFJob workshop, alone, in step with other
 * workers, or with parameter servers, as the cluster says. Its environment names are those of the
 * workshop, so that its YAML works as it is. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainer/fit_report.h"
#include "models/classifier/fit.h"
#include "train/run/fit_options.h"
#include "train/run/fit_terms.h"
#include "train/run/model_dir.h"
#include "train/team/reducer_comm.h"

#include <stdio.h>

struct fit_values {
    struct fit_shared shared;
    const char *data, *model, *optimizer, *schedule, *export_dir;
    int64_t steps, epochs, batch, warm_up;
    double rate;
};
FIT_SHARED_FIRST(struct fit_values);

static enum classifier_kind kind_of(const char *name)
{
    return str_eq_nocase(name, classifier_kind_name(CLASSIFIER_LINEAR)) ? CLASSIFIER_LINEAR
                                                                        : CLASSIFIER_CNN;
}

static int check_kind(const char *name, struct err *err)
{
    if (str_eq_nocase(name, classifier_kind_name(kind_of(name))))
        return 0;
    return err_set(err, ERR_USAGE, "there is no model type '%s': use cnn or linear", name);
}

/* Every process must know how many steps there are, so a parameter server needs the data, too. */
static int steps_of_epochs(const struct fit_values *values, uint64_t *ret, struct err *err)
{
    _cleanup_(cleanup_idx) struct idx *train = NULL;
    int result = idx_open(values->data, IDX_TRAIN, &train, err);
    if (result < 0)
        return err_wrap(err, "cannot tell how long --epochs %lld are", (long long)values->epochs);
    double steps = (double)values->epochs * (double)train->count / (double)values->batch;
    *ret = steps < 1 ? 1 : (uint64_t)(steps + 0.5);
    return 0;
}

static int options_of(const struct fit_values *values, bool servers,
                      struct classifier_fit_options *ret, struct err *err)
{
    struct classifier_fit_options options = CLASSIFIER_FIT_DEFAULT;
    options.seed = (uint64_t)values->shared.seed;
    options.steps = (uint64_t)values->steps;
    options.batch = (int)values->batch;
    options.threads = (int)values->shared.threads;
    options.precision = str_eq(values->shared.precision, "bf16") ? PRECISION_BF16 : PRECISION_FP32;
    options.loaders = (int)values->shared.loaders;
    options.optimizer = str_eq(values->optimizer, "sgd")    ? OPTIMIZER_SGD
                        : str_eq(values->optimizer, "adam") ? OPTIMIZER_ADAM
                                                            : OPTIMIZER_ADAGRAD;
    options.schedule = str_eq(values->schedule, "cosine") ? SCHEDULE_COSINE : SCHEDULE_CONSTANT;
    options.rate = values->rate != 0 ? (float)values->rate
                   : servers         ? CLASSIFIER_FIT_RATE_SERVERS
                                     : CLASSIFIER_FIT_RATE;
    options.clip = (float)values->shared.clip;
    options.warm_up = (uint64_t)values->warm_up;
    options.data = values->data;
    options.model_dir = str_is_empty(values->shared.model_dir) ? NULL : values->shared.model_dir;
    options.export_dir = str_is_empty(values->export_dir) ? NULL : values->export_dir;
    options.checkpoint_every = (uint64_t)values->shared.checkpoint_every;
    options.keep = (size_t)values->shared.keep;
    options.log.style = fit_log_style(values->shared.cluster.log);
    options.log.stream = stdout;
    options.stop = &fit_stop_asked;
    options.kind = kind_of(values->model);
    if (classifier_fit_check(&options, servers, err) < 0)
        return fit_refuse_usage(err);
    int result = values->epochs ? steps_of_epochs(values, &options.steps, err) : 0;
    if (result == 0)
        *ret = options;
    return result;
}

/* The words of the workshop's program, which people look for in the logs. */
static void announce(const struct classifier_fit_options *options, bool chief)
{
    if (options->log.style == PROGRESS_JSON)
        return;
    if (!chief)
        printf("Will not export model: the chief does\n");
    else if (options->export_dir)
        printf("Will export model to %s\n", options->export_dir);
    fflush(stdout);
}

static void report_json(const struct classifier_fit_options *options, const char *path,
                        const struct classifier_fit_result *result)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", "result");
    json_set_int(arena, line, "steps", (int64_t)result->last);
    json_set(arena, line, "loss", json_real(arena, result->loss));
    json_set_int(arena, line, "testPictures", (int64_t)result->eval.pictures);
    json_set(arena, line, "testAccuracy", json_real(arena, result->eval.accuracy));
    if (options->model_dir)
        json_set_string(arena, line, "model", path);
    if (result->version) {
        json_set_string(arena, line, "exportDir", options->export_dir);
        json_set_int(arena, line, "version", result->version);
    }
    fit_report_set(arena, line, options->model_dir);
    printf("%s\n", json_to_string(arena, line));
}

static void report(const struct classifier_fit_options *options,
                   const struct classifier_fit_result *result)
{
    char text[128], path[4096];
    if (options->model_dir)
        classifier_fit_model_path(options->model_dir, path, sizeof(path));
    if (options->log.style == PROGRESS_JSON) {
        report_json(options, path, result);
        return;
    }
    classifier_eval_sentence(&result->eval, text, sizeof(text));
    printf("%s\n", text);
    if (options->model_dir)
        printf("model: %s\n", path);
    if (result->version)
        printf("exported version %lld to %s\n", (long long)result->version, options->export_dir);
    if (!options->model_dir && !result->version)
        printf("the model is not kept: neither --model-dir nor --export-dir was given\n");
    fit_report_print(options->model_dir);
}

static int serve_variables(const struct fit_values *values,
                           const struct classifier_fit_options *options,
                           const struct ty_tf_config *config, struct err *err)
{
    int result = options->model_dir ? file_make_dirs(options->model_dir, 0755, err) : 0;
    struct ps_server_options server = {
        .config = config,
        .shape = classifier_fit_hash(options),
        .directory = options->model_dir,
        .join_timeout_ms = values->shared.cluster.join_timeout * 1000,
        .stop = &fit_stop_asked,
        .report = fit_say_line,
    };
    bool stopped = false;
    if (result == 0)
        result = ps_server_run(&server, &stopped, err);
    return result == 0 && stopped ? fit_exit_stopped() : result;
}

static int train_with_servers(const struct fit_values *values,
                              const struct classifier_fit_options *options,
                              const struct ty_tf_config *config, size_t workers,
                              struct classifier_fit_result *ret, struct err *err)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = NULL;
    struct ps_options ps = {
        .config = config,
        .shape = classifier_fit_hash(options),
        .join_timeout_ms = values->shared.cluster.join_timeout * 1000,
        .stop = &fit_stop_asked,
        .report = fit_say_line,
        .waiting = fit_watch_wait,
        .context = options->log.state,
    };
    fit_joining = 1; /* nothing is lost when a signal ends the wait */
    int result = ps_client_open(&ps, &client, err);
    fit_joining = 0;
    if (result == 0)
        result =
            classifier_fit_async(options, client, ty_tf_config_is_chief(config), workers, ret, err);
    return result;
}

static void hold_to(const struct fit_values *values, const struct classifier_fit_options *options,
                    struct fit_terms *terms)
{
    char text[IDX_TEXT_MAX];
    idx_describe(options->train, text, sizeof(text));
    fit_terms_init(terms, &COMMAND_FIT_CLASSIFIER, values);
    fit_terms_set(terms, "model", classifier_kind_name(options->kind));
    fit_terms_set(terms, "data", text);
}

static int train_in_step(const struct fit_values *values, struct classifier_fit_options *options,
                         const struct ty_tf_config *config, size_t workers,
                         struct classifier_fit_result *ret, struct err *err)
{
    _cleanup_(reducer_comm_close) struct reducer_comm several = {0};
    _cleanup_(cleanup_idx) struct idx *train = NULL;
    _cleanup_(fit_terms_release) struct fit_terms terms = {0};
    struct reducer alone = reducer_single(), *reducer = &alone;
    int result = fit_cluster_check_batch(config, (size_t)options->batch, err);
    if (result == 0)
        result = idx_open(options->data, IDX_TRAIN, &train, err);
    if (result < 0)
        return result;
    options->train = train;
    hold_to(values, options, &terms);
    options->kept = terms.kept;
    if (workers > 1) {
        struct comm_options comm =
            fit_cluster_comm(&values->shared.cluster, config,
                             fit_terms_hash(&terms, classifier_fit_hash_data(options, train)));
        comm.terms = fit_terms_text(&terms);
        comm.waiting = fit_watch_wait;
        comm.waited = fit_watch_waited;
        comm.context = options->log.state;
        result = reducer_comm_open(&several, &comm, &fit_joining, err);
        reducer = &several.reducer;
    }
    return result == 0 ? classifier_fit(options, reducer, ret, err) : result;
}

static int train(const struct fit_values *values, const struct ty_tf_config *config,
                 struct err *err)
{
    struct classifier_fit_options options = CLASSIFIER_FIT_DEFAULT;
    bool servers = ty_tf_config_count(config, TY_ROLE_PS) > 0;
    int result = options_of(values, servers, &options, err);
    if (result < 0)
        return result;
    enum ty_role role = config->tasks[config->self].role;
    if (role == TY_ROLE_EVALUATOR)
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is 'evaluator', which is not needed: the chief judges the model "
                       "at the end; leave it out of the job");
    if (role == TY_ROLE_PS)
        return serve_variables(values, &options, config, err);
    size_t workers = tf_config_workers(config);
    _cleanup_(fit_watch_close) struct fit_watch watch = {0};
    result = fit_watch_open(&values->shared.watch, &COMMAND_FIT_CLASSIFIER, values,
                            options.model_dir, &options.log, &watch, err);
    if (result < 0)
        return result;
    bool chief = ty_tf_config_is_chief(config);
    if (chief && options.export_dir)
        result = model_dir_probe(options.export_dir, err);
    if (result < 0)
        return result;
    if (chief && !options.export_dir && !options.model_dir)
        fit_say_not_kept();
    announce(&options, chief);
    struct classifier_fit_result done = {0};
    result = servers ? train_with_servers(values, &options, config, workers, &done, err)
                     : train_in_step(values, &options, config, workers, &done, err);
    if (result == 0 && done.judged)
        report(&options, &done);
    if (result == 0 && done.stopped)
        result = fit_exit_stopped();
    else if (result == 0)
        fit_watch_finish(&watch);
    classifier_fit_result_release(&done);
    return result;
}

static int run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    const struct fit_values *fit = values;
    struct ty_tf_config *config = NULL;
    fit_begin();
    int result = fit_cluster_read(&fit->shared.cluster, &config, err);
    if (result == 0)
        result = train(fit, config, err);
    ty_tf_config_free(config);
    return result;
}

#define FIELD(name) .offset = offsetof(struct fit_values, name)

static const struct option OPTIONS[] = {
    {.name = "data",
     .aliases = "data-dir",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = IDX_DIRECTORY_DEFAULT,
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "directory with the four IDX files of MNIST or of a data set like it"},
    {.name = "model",
     .type = OPTION_STRING,
     FIELD(model),
     .environment = "TF_MODEL_TYPE",
     .fallback = "cnn",
     .check = check_kind,
     .value = "cnn|linear",
     .marks = FIT_KEPT,
     .help = "two convolutions and a hidden layer, or no hidden layer at all"},
    {.name = "steps",
     .aliases = "train-steps",
     .type = OPTION_INT,
     FIELD(steps),
     .environment = "TF_TRAIN_STEPS",
     .fallback = "200",
     .min = 1,
     .max = 100000000,
     .value = "N",
     .help = "steps of all workers together, those of a run that is resumed included"},
    {.name = "epochs",
     .type = OPTION_INT,
     FIELD(epochs),
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "instead of --steps: how often to go through the training pictures"},
    {.name = "batch",
     .aliases = "batch-size",
     .type = OPTION_INT,
     FIELD(batch),
     .environment = "TF_BATCH_SIZE",
     .fallback = "100",
     .min = 1,
     .max = 4096,
     .value = "N",
     .help = "pictures of a step: shared by all workers, or of one worker with parameter servers"},
    {.name = "optimizer",
     .type = OPTION_CHOICE,
     FIELD(optimizer),
     .fallback = "adagrad",
     .choices = "adagrad|sgd|adam",
     .value = "KIND",
     .help = "how a gradient changes the parameters; adam not with parameter servers"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .environment = "TF_LEARNING_RATE",
     .fallback = "0",
     .range = {0, 100},
     .value = "X",
     .help = "at its highest; 0: 0.01, or 0.002 with parameter servers, whose gradients come late"},
    {.name = "schedule",
     .type = OPTION_CHOICE,
     FIELD(schedule),
     .fallback = "constant",
     .choices = "constant|cosine",
     .value = "KIND",
     .help = "of the learning rate, after the warm-up"},
    {.name = "warm-up",
     .type = OPTION_INT,
     FIELD(warm_up),
     .fallback = "40",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "steps in which the learning rate rises"},
    {.name = "export-dir",
     .type = OPTION_PATH,
     FIELD(export_dir),
     .environment = "TF_EXPORT_DIR",
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "where the chief publishes the model as the next version, for 'trainer serve'"},
    {.more = FIT_NETWORK_OPTIONS},
};

const struct command COMMAND_FIT_CLASSIFIER = {
    .name = "classifier",
    .summary = "train a classifier of small pictures (digits, clothes)",
    .description =
        "Trains the network of the TFJob workshop on MNIST, Fashion-MNIST or any data set of that "
        "form. Where the cluster has a chief and workers only, they train in step, and the result "
        "is that of one worker. Where it has parameter servers, these hold the variables, and "
        "chief and workers pull, compute and push without waiting for each other.\n\n"
        "The chief, or worker 0, shows the progress; at the end it judges the model on the test "
        "pictures and exports it as the next version. SIGTERM saves and ends with code 143; the "
        "same command then goes on from there.",
    .examples = "trainer fit classifier --model-dir fashion --export-dir export\n"
                "trainer fit classifier --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 "
                "--job_name=worker --task_index=0",
    .options = OPTIONS,
    .values_size = sizeof(struct fit_values),
    .narrates = true,
    .run = run,
};

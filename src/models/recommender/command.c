/* trainer fit recommender: train the recommender, alone, or as a worker or a parameter server of a
 * cluster. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainer/fit_report.h"
#include "models/recommender/fit.h"
#include "train/run/fit_options.h"
#include "train/run/fit_terms.h"

#include <stdio.h>

struct fit_values {
    struct fit_shared shared;
    const char *data, *kind, *label;
    int64_t dimensions, buckets, epochs, batch, test_percent, snapshot_every;
    double rate;
};
FIT_SHARED_FIRST(struct fit_values);

static struct recommender_fit_options options_of(const struct fit_values *values)
{
    struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
    bool deepfm = str_eq(values->kind, "deepfm");
    options.model = (struct recommender_config){
        .kind = deepfm ? RECOMMENDER_DEEPFM : RECOMMENDER_MLP,
        .label = str_eq(values->label, "like") || (str_eq(values->label, "auto") && deepfm)
                     ? RECOMMENDER_LIKE
                     : RECOMMENDER_RATING,
        .dimensions = (int)values->dimensions,
        .buckets = values->buckets,
    };
    options.seed = (uint64_t)values->shared.seed;
    options.epochs = (uint64_t)values->epochs;
    options.batch = (int)values->batch;
    options.test_percent = (int)values->test_percent;
    options.rate = (float)values->rate;
    options.checkpoint_every = (uint64_t)values->shared.checkpoint_every;
    options.keep = (size_t)values->shared.keep;
    options.model_dir = str_is_empty(values->shared.model_dir) ? NULL : values->shared.model_dir;
    options.log.style = fit_log_style(values->shared.cluster.log);
    options.log.stream = stdout;
    options.stop = &fit_stop_asked;
    return options;
}

static void report(const struct recommender_fit_options *options,
                   const struct recommender_fit_place *place,
                   const struct recommender_fit_result *result)
{
    char text[512], path[4096] = "";
    if (place->chief && options->model_dir)
        recommender_fit_model_path(options->model_dir, path, sizeof(path));
    if (options->log.style == PROGRESS_JSON) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *line = json_object(arena);
        json_set_string(arena, line, "event", "result");
        json_set_int(arena, line, "steps", (int64_t)result->steps);
        json_set_int(arena, line, "ownSteps", (int64_t)result->own);
        if (path[0]) {
            json_set_string(arena, line, "model", path);
            json_set_int(arena, line, "rows", (int64_t)result->rows);
            fit_report_set(arena, line, options->model_dir);
        }
        if (result->judged)
            json_set(arena, line, "test", recommender_eval_to_json(arena, &result->eval));
        printf("%s\n", json_to_string(arena, line));
        return;
    }
    if (place->workers > 1)
        printf("this worker did %llu of %llu batches\n", (unsigned long long)result->own,
               (unsigned long long)result->steps);
    if (result->judged) {
        recommender_eval_sentence(&result->eval, text, sizeof(text));
        printf("test: %s\n", text);
    }
    if (path[0])
        printf("model: %s (%zu rows)\n", path, result->rows);
    else if (place->chief)
        printf("the model is not kept: --model-dir was not given\n");
    if (path[0])
        fit_report_print(options->model_dir);
}

static int serve(const struct fit_values *values, const struct recommender_fit_options *options,
                 const struct ty_tf_config *config, bool *ret_stopped, struct err *err)
{
    struct ps_server_options server = {
        .config = config,
        .shape = recommender_fit_hash(options),
        .directory = options->model_dir,
        .snapshot_every_ms = values->snapshot_every * 1000,
        .join_timeout_ms = values->shared.cluster.join_timeout * 1000,
        .stop = &fit_stop_asked,
        .report = fit_say_line,
    };
    int result = options->model_dir ? file_make_dirs(options->model_dir, 0755, err) : 0;
    return result < 0 ? result : ps_server_run(&server, ret_stopped, err);
}

/* What is judged would not be true of ratings that were trained on before. */
static void hold_to(const struct fit_values *values, const struct recommender_fit_options *options,
                    const struct ratings *ratings, struct fit_terms *terms)
{
    char text[RATINGS_TEXT_MAX];
    ratings_describe(ratings, text, sizeof(text));
    fit_terms_init(terms, &COMMAND_FIT_RECOMMENDER, values);
    fit_terms_set(terms, "label", options->model.label == RECOMMENDER_LIKE ? "like" : "rating");
    fit_terms_set(terms, "data", text);
}

static int train(const struct fit_values *values, struct recommender_fit_options *options,
                 const struct ty_tf_config *config, bool *ret_stopped, struct err *err)
{
    _cleanup_(fit_watch_close) struct fit_watch watch = {0};
    _cleanup_(cleanup_ratings) struct ratings *ratings = NULL;
    _cleanup_(cleanup_ps_client) struct ps_client *client = NULL;
    _cleanup_(fit_terms_release) struct fit_terms terms = {0};
    if (str_is_empty(values->data))
        return err_set(err, ERR_USAGE,
                       "say with --data where the ratings are: a CSV file of "
                       "userId,movieId,rating,timestamp ('tools/get-data movielens' fetches one)");
    int result = ratings_open(values->data, &ratings, err);
    if (result == 0)
        result = fit_watch_open(&values->shared.watch, &COMMAND_FIT_RECOMMENDER, values,
                                options->model_dir, &options->log, &watch, err);
    if (result < 0)
        return result;
    struct ps_options ps = {
        .config = config,
        .shape = recommender_fit_hash(options),
        .join_timeout_ms = values->shared.cluster.join_timeout * 1000,
        .timeout_ms = values->shared.cluster.join_timeout * 1000,
        .stop = &fit_stop_asked,
        .report = fit_say_line,
        .waiting = fit_watch_wait,
        .context = watch.state,
    };
    if (!options->model_dir && ty_tf_config_is_chief(config))
        fit_say_not_kept();
    hold_to(values, options, ratings, &terms);
    options->kept = terms.kept;
    fit_joining = 1;
    result = ps_client_open(&ps, &client, err);
    fit_joining = 0;
    if (result < 0)
        return result;
    struct recommender_fit_place place = {
        .client = client,
        .workers = tf_config_workers(config),
        .chief = ty_tf_config_is_chief(config),
    };
    struct recommender_fit_result done = {0};
    result = recommender_fit(options, ratings, &place, &done, err);
    if (result < 0)
        return result;
    if (!done.stopped) {
        report(options, &place, &done);
        fit_watch_finish(&watch);
    }
    *ret_stopped = done.stopped;
    return 0;
}

static int check_roles(const struct ty_tf_config *config, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    size_t workers = tf_config_workers(config);
    if (self->role == TY_ROLE_EVALUATOR)
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is 'evaluator', which the recommender has no use for: the chief "
                       "judges the model; leave it out of the job");
    if (workers > 1 && ty_tf_config_count(config, TY_ROLE_PS) == 0)
        return err_set(err, ERR_UNSUPPORTED,
                       "%zu workers without a parameter server have nothing to share: give the job "
                       "PS replicas, or one worker",
                       workers);
    return 0;
}

static int run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    const struct fit_values *wanted = values;
    struct recommender_fit_options options = options_of(wanted);
    struct ty_tf_config *config = NULL;
    bool stopped = false;
    fit_begin();
    int result = recommender_config_check(&options.model, err);
    if (result < 0)
        return fit_refuse_usage(err);
    result = fit_cluster_read(&wanted->shared.cluster, &config, err);
    if (result == 0)
        result = check_roles(config, err);
    if (result == 0 && config->tasks[config->self].role == TY_ROLE_PS)
        result = serve(wanted, &options, config, &stopped, err);
    else if (result == 0)
        result = train(wanted, &options, config, &stopped, err);
    ty_tf_config_free(config);
    return result == 0 && stopped ? fit_exit_stopped() : result;
}

#define FIELD(name) .offset = offsetof(struct fit_values, name)

static const struct option OPTIONS[] = {
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .value = "FILE",
     .marks = FIT_FREE,
     .help = "CSV file of userId,movieId,rating,timestamp, or a folder with ratings.csv in it"},
    {.name = "kind",
     .type = OPTION_CHOICE,
     FIELD(kind),
     .fallback = "deepfm",
     .choices = "deepfm|mlp",
     .value = "KIND",
     .marks = FIT_KEPT,
     .help = "a network of both embeddings (mlp), or that with their product and a weight of each "
             "id beside it (deepfm)"},
    {.name = "label",
     .type = OPTION_CHOICE,
     FIELD(label),
     .fallback = "auto",
     .choices = "auto|like|rating",
     .value = "KIND",
     .marks = FIT_KEPT,
     .help = "what to predict: whether a rating is 3.5 or more, or the rating itself; auto: like "
             "for deepfm, rating for mlp"},
    {.name = "dimensions",
     .type = OPTION_INT,
     FIELD(dimensions),
     .fallback = "32",
     .min = 1,
     .max = RECOMMENDER_DIMENSIONS_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "of an embedding"},
    {.name = "buckets",
     .type = OPTION_INT,
     FIELD(buckets),
     .fallback = "0",
     .min = 0,
     .max = (int64_t)1 << 40,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "rows that all ids share, so that they collide; 0: a row for every id"},
    {.name = "epochs",
     .type = OPTION_INT,
     FIELD(epochs),
     .fallback = "4",
     .min = 1,
     .max = 1000000,
     .value = "N",
     .help = "how often to go through the ratings"},
    {.name = "batch",
     .aliases = "batch-size",
     .type = OPTION_INT,
     FIELD(batch),
     .fallback = "512",
     .min = 1,
     .max = RECOMMENDER_BATCH_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "ratings in a batch"},
    {.name = "test-percent",
     .type = OPTION_INT,
     FIELD(test_percent),
     .fallback = "10",
     .min = 0,
     .max = 90,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "part of the ratings kept out of training, to judge the model by, in percent"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .fallback = "0.05",
     .range = {.min = 0, .max = 100, .above_min = true},
     .value = "X",
     .help = "of Adagrad"},
    {.name = "snapshot-every",
     .type = OPTION_INT,
     FIELD(snapshot_every),
     .fallback = "60",
     .min = 1,
     .max = 86400,
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "time between snapshots of a parameter server, in seconds"},
    {.name = "checkpoint-every",
     .type = OPTION_INT,
     .offset = offsetof(struct fit_values, shared.checkpoint_every),
     .fallback = "1000",
     .min = 0,
     .max = 100000000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "batches between checkpoints where there are no parameter servers; 0: only at the "
             "end"},
    {.name = "keep",
     .type = OPTION_INT,
     .offset = offsetof(struct fit_values, shared.keep),
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "checkpoints to keep"},
    {.more = FIT_OPTIONS},
};

const struct command COMMAND_FIT_RECOMMENDER = {
    .name = "recommender",
    .summary = "train a recommender of films, or of anything that is rated",
    .description =
        "Trains embeddings of users and items, and the network that tells from them what a user "
        "will like. Where TF_CONFIG names parameter servers, the processes of role 'ps' hold the "
        "embeddings and the network, and every worker pulls what a batch needs and pushes its "
        "gradients without waiting for another; batches are handed out from one row, so a worker "
        "that dies or comes late costs nothing but its own. Without TF_CONFIG one process does it "
        "all.\n\n"
        "At the end the chief, or worker 0, judges the model on the ratings that were kept out, by "
        "the AUC (how often one that was liked is scored above one that was not), and writes "
        "it.\n\n"
        "SIGTERM ends a process with code 143. Parameter servers save first, and so does a process "
        "that trains alone: with --model-dir on a volume that lasts, what is started again goes on "
        "from there.",
    .examples = "trainer fit recommender --data ratings.csv --model-dir films\n"
                "trainer fit recommender --data ratings.csv --kind mlp --buckets 1000",
    .options = OPTIONS,
    .values_size = sizeof(struct fit_values),
    .narrates = true,
    .run = run,
};

/* Implements the recommender's row in the table of models (RECOMMENDER_MODEL): how `trainer fit
 * recommender` reads its options and its ratings, trains (alone, or with parameter servers) and
 * reports the result. `trainer fit` calls these functions; see train/run/model.h. */
#include "base/mem.h"
#include "base/str.h"
#include "models/recommender/fit.h"

#include <stdio.h>

struct recommender_values {
    struct fit_values shared;
    const char *data, *kind, *label;
    int64_t dimensions, buckets, epochs, batch, test_percent, snapshot_every;
    double rate;
};
FIT_VALUES_FIRST(struct recommender_values);

/* One run of `trainer fit recommender`. */
struct recommender_command {
    struct model_run run;
    struct recommender_fit_options options;
    struct ratings *ratings;
    struct recommender_fit_result result;
};

static struct recommender_command *recommender_command_of(struct model_run *run)
{
    return CONTAINER_OF(run, struct recommender_command, run);
}

static const struct recommender_command *recommender_command_of_const(const struct model_run *run)
{
    return CONTAINER_OF(run, const struct recommender_command, run);
}

static const struct recommender_values *recommender_command_values(const struct model_run *run)
{
    return CONTAINER_OF(run->values, const struct recommender_values, shared);
}

static struct recommender_fit_options
recommender_options_read(const struct recommender_values *values)
{
    struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
    bool deepfm = str_eq(values->kind, "deepfm");
    options.fit = fit_options_read(&values->shared);
    options.model = (struct recommender_config){
        .kind = deepfm ? RECOMMENDER_DEEPFM : RECOMMENDER_MLP,
        .label = str_eq(values->label, "like") || (str_eq(values->label, "auto") && deepfm)
                     ? RECOMMENDER_LIKE
                     : RECOMMENDER_RATING,
        .dimensions = (int)values->dimensions,
        .buckets = values->buckets,
    };
    options.epochs = (uint64_t)values->epochs;
    options.batch = (int)values->batch;
    options.test_percent = (int)values->test_percent;
    options.rate = (float)values->rate;
    return options;
}

static int recommender_command_init(struct model_run *run, struct err *err)
{
    struct recommender_command *command = recommender_command_of(run);
    const struct recommender_values *values = recommender_command_values(run);
    command->options = recommender_options_read(values);
    if (recommender_config_check(&command->options.model, err) < 0)
        return fit_options_refuse(err);
    run->batch = (size_t)values->batch;
    run->snapshot_every_ms = values->snapshot_every * 1000;
    run->server_timeout_ms = values->shared.cluster.join_timeout * 1000;
    return 0;
}

static int recommender_command_open(struct model_run *run, struct err *err)
{
    const char *data = recommender_command_values(run)->data;
    if (str_is_empty(data))
        return err_set(
            err, ERR_USAGE,
            "no ratings given: use --data FILE with a CSV file of userId,movieId,rating,timestamp "
            "('tools/get-data movielens' downloads one)");
    return ratings_open(data, &recommender_command_of(run)->ratings, err);
}

/* Adds the data to the terms, because a run may only be resumed with the same data: with other data
 * the test ratings may include ratings that the model was trained on. */
static void recommender_command_terms(const struct model_run *run, struct fit_terms *terms)
{
    const struct recommender_command *command = recommender_command_of_const(run);
    char text[RATINGS_TEXT_MAX];
    ratings_describe(command->ratings, text, sizeof(text));
    fit_terms_set(terms, "label",
                  command->options.model.label == RECOMMENDER_LIKE ? "like" : "rating");
    fit_terms_set(terms, "data", text);
}

static size_t recommender_command_numbers(const struct model_run *run, bool data,
                                          uint64_t ret[MODEL_NUMBERS_MAX])
{
    (void)data; /* the numbers never include the data, because the servers do not have it */
    return recommender_fit_numbers(&recommender_command_of_const(run)->options, ret);
}

static int recommender_command_train(struct model_run *run, struct err *err)
{
    struct recommender_command *command = recommender_command_of(run);
    struct recommender_fit_cluster cluster = {
        .client = run->client,
        .workers = tf_config_workers(run->cluster),
        .chief = run->chief,
    };
    command->options.fit = run->fit;
    int result =
        recommender_fit(&command->options, command->ratings, &cluster, &command->result, err);
    run->stopped = command->result.stopped;
    return result;
}

static bool recommender_command_report(const struct model_run *run, struct arena *arena,
                                       struct json *line, struct buf *text)
{
    const struct recommender_fit_result *result = &recommender_command_of_const(run)->result;
    char path[4096] = "", sentence[512];
    json_set_int(arena, line, "steps", (int64_t)result->steps);
    json_set_int(arena, line, "ownSteps", (int64_t)result->own_steps);
    if (tf_config_workers(run->cluster) > 1)
        buf_printf(text, "this worker did %llu of %llu batches\n",
                   (unsigned long long)result->own_steps, (unsigned long long)result->steps);
    if (result->evaluated) {
        json_set(arena, line, "test", recommender_eval_to_json(arena, &result->eval));
        recommender_eval_sentence(&result->eval, sentence, sizeof(sentence));
        buf_printf(text, "test: %s\n", sentence);
    }
    if (run->chief && run->fit.model_dir) {
        recommender_fit_model_path(run->fit.model_dir, path, sizeof(path));
        json_set_string(arena, line, "model", path);
        json_set_int(arena, line, "rows", (int64_t)result->rows);
        buf_printf(text, "model: %s (%zu rows)\n", path, result->rows);
    } else if (run->chief) {
        buf_printf(text, "the model is not kept: --model-dir was not given\n");
    }
    return true;
}

static void recommender_command_release(struct model_run *run)
{
    struct recommender_command *command = recommender_command_of(run);
    ratings_free(command->ratings);
}

#define FIELD(name) .offset = offsetof(struct recommender_values, name)

static const struct option RECOMMENDER_OPTIONS[] = {
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .value = "FILE",
     .marks = FIT_FREE,
     .help = "CSV file of userId,movieId,rating,timestamp, or a folder that contains ratings.csv"},
    {.name = "kind",
     .type = OPTION_CHOICE,
     FIELD(kind),
     .fallback = "deepfm",
     .choices = "deepfm|mlp",
     .value = "KIND",
     .marks = FIT_KEPT,
     .help = "mlp: a network on both embeddings; deepfm: the same, plus their product and a weight "
             "per id"},
    {.name = "label",
     .type = OPTION_CHOICE,
     FIELD(label),
     .fallback = "auto",
     .choices = "auto|like|rating",
     .value = "KIND",
     .marks = FIT_KEPT,
     .help = "what to predict: like: whether a rating is 3.5 or more; rating: the rating itself; "
             "auto: like for deepfm, rating for mlp"},
    {.name = "dimensions",
     .type = OPTION_INT,
     FIELD(dimensions),
     .fallback = "32",
     .min = 1,
     .max = RECOMMENDER_DIMENSIONS_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "dimensions of an embedding"},
    {.name = "buckets",
     .type = OPTION_INT,
     FIELD(buckets),
     .fallback = "0",
     .min = 0,
     .max = (int64_t)1 << 40,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "number of rows that all ids share, with collisions; 0: one row per id"},
    {.name = "epochs",
     .type = OPTION_INT,
     FIELD(epochs),
     .fallback = "4",
     .min = 1,
     .max = 1000000,
     .value = "N",
     .help = "passes over the ratings"},
    {.name = "batch",
     .aliases = "batch-size",
     .type = OPTION_INT,
     FIELD(batch),
     .fallback = "512",
     .min = 1,
     .max = RECOMMENDER_BATCH_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "ratings per batch"},
    {.name = "test-percent",
     .type = OPTION_INT,
     FIELD(test_percent),
     .fallback = "10",
     .min = 0,
     .max = 90,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "percentage of the ratings kept out of training, for the evaluation"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .fallback = "0.05",
     .range = {.min = 0, .max = 100, .above_min = true},
     .value = "X",
     .help = "learning rate of Adagrad"},
    {.name = "snapshot-every",
     .type = OPTION_INT,
     FIELD(snapshot_every),
     .fallback = "60",
     .min = 1,
     .max = 86400,
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "seconds between snapshots of a parameter server"},
    {.name = "checkpoint-every",
     .type = OPTION_INT,
     .offset = offsetof(struct recommender_values, shared.checkpoint_every),
     .fallback = "1000",
     .min = 0,
     .max = 100000000,
     .value = "N",
     .marks = FIT_FREE,
     .help =
         "batches between checkpoints of a process without parameter servers; 0: only at the end"},
    {.name = "keep",
     .type = OPTION_INT,
     .offset = offsetof(struct recommender_values, shared.keep),
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "checkpoints to keep"},
    {.more = FIT_OPTIONS},
};

const struct model RECOMMENDER_MODEL = {
    .command =
        {
            .name = "recommender",
            .summary = "train a recommender of films, or of other rated items",
            .description =
                "Trains embeddings of users and items, and a network that predicts from them what "
                "a user will like. If TF_CONFIG names parameter servers, the processes of role "
                "'ps' hold the embeddings and the network. Every worker pulls the rows of its "
                "batch and pushes its gradients without waiting for other workers. The workers "
                "take the batches one by one: if a worker dies, only the batch that it was "
                "computing is lost. Without TF_CONFIG one process does everything.\n\nAt the end "
                "the chief, "
                "or worker 0, evaluates the model on the ratings that were kept out, by the AUC "
                "(how often a liked item scores higher than one that was not liked), and writes "
                "it to --model-dir.\n\nSIGTERM ends a process with code 143. Parameter servers "
                "save first, and so "
                "does a single process: with --model-dir on a persistent volume, a restarted run "
                "is resumed.",
            .examples = "trainer fit recommender --data ratings.csv --model-dir films\n"
                        "trainer fit recommender --data ratings.csv --kind mlp --buckets 1000",
            .options = RECOMMENDER_OPTIONS,
            .values_size = sizeof(struct recommender_values),
            .output_is_progress = true,
        },
    .unit = "ratings",
    .modes = MODEL_TRAINS_WITH_SERVERS,
    .length_option = "--epochs",
    .divergence_advice = "a lower --learning-rate",
    .run_size = sizeof(struct recommender_command),
    .steps = &RECOMMENDER_FIT_STEPS,
    .init = recommender_command_init,
    .open = recommender_command_open,
    .terms = recommender_command_terms,
    .numbers = recommender_command_numbers,
    .train = recommender_command_train,
    .report = recommender_command_report,
    .release = recommender_command_release,
};

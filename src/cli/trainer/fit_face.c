/* trainer fit face: train the face embedding, alone or with the other workers of the cluster. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "cli/trainer/fit_cluster.h"
#include "cli/trainer/fit_watch.h"
#include "cli/trainer/people.h"
#include "models/face_fit.h"
#include "train/reducer_comm.h"

#include <stdio.h>

struct fit_values {
    struct option_config config;
    struct fit_cluster_values cluster;
    struct fit_watch_values watch;
    const char *data, *crop, *optimizer, *schedule, *precision, *mining, *norm, *light, *start_from,
        *model_dir;
    int64_t persons, pictures, held_out, steps, epochs, batch, batch_persons, batch_pictures, side,
        channels, embedding, width, seed, threads, loaders, checkpoint_every, keep, warm_up;
    double margin, rate, weight_decay, clip, blend, shift, turn, zoom, shade, noise, cover;
    bool plain_pictures;
};

static struct face_fit_options options_of(const struct fit_values *values)
{
    struct face_fit_options options = FACE_FIT_DEFAULT;
    options.model = (struct face_config){
        .side = (int)values->side,
        .channels = (int)values->channels,
        .embedding = (int)values->embedding,
        .width = (int)values->width,
        .norm = str_eq(values->norm, "batch") ? FACE_NORM_BATCH : FACE_NORM_GROUP,
        .light = str_eq(values->light, "keep") ? FACE_LIGHT_KEEP : FACE_LIGHT_EVEN,
        .precision = str_eq(values->precision, "bf16") ? PRECISION_BF16 : PRECISION_FP32,
    };
    options.seed = (uint64_t)values->seed;
    options.steps = (uint64_t)values->steps;
    options.batch_persons = (size_t)values->batch_persons;
    options.batch_pictures = (size_t)values->batch_pictures;
    options.held_out = (size_t)values->held_out;
    options.threads = (int)values->threads;
    options.loaders = (int)values->loaders;
    options.triplet = (struct triplet_config){
        .mining = str_eq(values->mining, "batch-hard") ? TRIPLET_BATCH_HARD : TRIPLET_SEMI_HARD,
        .margin = (float)values->margin,
    };
    options.optimizer = str_eq(values->optimizer, "sgd") ? OPTIMIZER_SGD : OPTIMIZER_ADAM;
    options.weight_decay = (float)values->weight_decay;
    options.clip = (float)values->clip;
    options.schedule = str_eq(values->schedule, "constant") ? SCHEDULE_CONSTANT : SCHEDULE_COSINE;
    options.rate = (float)values->rate;
    options.warm_up = (uint64_t)values->warm_up;
    options.augment = (struct augment){
        .shift = (float)values->shift,
        .turn = (float)values->turn,
        .scale = (float)values->zoom,
        .gamma = (float)values->shade,
        .noise = (float)values->noise,
        .cover = (float)values->cover,
        .mirror = true,
    };
    if (values->plain_pictures)
        options.augment = (struct augment){0};
    options.blend = (float)values->blend;
    options.start_from = str_is_empty(values->start_from) ? NULL : values->start_from;
    options.model_dir = str_is_empty(values->model_dir) ? NULL : values->model_dir;
    options.checkpoint_every = (uint64_t)values->checkpoint_every;
    options.keep = (size_t)values->keep;
    options.log.style = fit_log_style(values->cluster.log);
    options.log.stream = stdout;
    options.stop = &fit_stop_asked;
    return options;
}

/* --batch counts pictures, of which every person of the batch has the same number. */
static int take_batch(const struct fit_values *values, struct face_fit_options *options,
                      struct err *err)
{
    if (!values->batch)
        return 0;
    if (values->batch % values->batch_pictures != 0)
        return err_set(err, ERR_USAGE,
                       "a batch of %lld pictures is no multiple of the %lld of each person: change "
                       "--batch (TF_BATCH_SIZE) or --batch-pictures",
                       (long long)values->batch, (long long)values->batch_pictures);
    options->batch_persons = (size_t)(values->batch / values->batch_pictures);
    return 0;
}

static int check_roles(const struct ty_tf_config *config, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role == TY_ROLE_PS || self->role == TY_ROLE_EVALUATOR)
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is '%s', which synchronous training does not have yet: give the "
                       "job a chief and workers only",
                       ty_role_name(self->role));
    return 0;
}

static void report(const struct face_fit_options *options, const struct face_fit_result *result)
{
    char text[512], path[4096] = "";
    if (options->model_dir)
        face_fit_model_path(options->model_dir, path, sizeof(path));
    if (options->log.style == PROGRESS_JSON) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *line = json_object(arena);
        json_set_string(arena, line, "event", "result");
        json_set_int(arena, line, "steps", (int64_t)result->last);
        json_set(arena, line, "loss", json_real(arena, result->loss));
        if (path[0])
            json_set_string(arena, line, "model", path);
        if (result->judged)
            json_set(arena, line, "heldOut", face_eval_to_json(arena, &result->eval));
        printf("%s\n", json_to_string(arena, line));
        return;
    }
    if (result->judged) {
        face_eval_sentence(&result->eval, text, sizeof(text));
        printf("held out: %s\n", text);
    }
    if (path[0])
        printf("model: %s\n", path);
    else
        printf("the model is not kept: --model-dir was not given\n");
}

/* Drawn people are cut already. */
static int open_people(const struct fit_values *values, struct people_crop *crop,
                       struct dataset **ret, struct err *err)
{
    enum face_crop wanted = FACE_CROP_OFF;
    if (people_are_drawn(values->data))
        return dataset_open_procedural((uint64_t)values->seed, (size_t)values->persons,
                                       (size_t)values->pictures, ret, err);
    int result = face_crop_from_name(values->crop, &wanted, err);
    if (result == 0)
        result = people_crop_open(wanted, crop, err);
    if (result == 0)
        result = people_open_training(values->data, crop, (int)values->threads, ret, err);
    return result;
}

static int train(const struct fit_values *values, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_(fit_watch_close) struct fit_watch watch = {0};
    _cleanup_(reducer_comm_close) struct reducer_comm several = {0};
    struct ty_tf_config *config = NULL;
    struct face_fit_options options = options_of(values);
    _cleanup_(people_crop_release) struct people_crop crop = {0};
    int result = face_config_check(&options.model, err);
    if (result == 0)
        result = take_batch(values, &options, err);
    if (result == 0)
        result = fit_cluster_read(&values->cluster, &config, err);
    if (result == 0)
        result = check_roles(config, err);
    if (result == 0)
        result =
            fit_cluster_check_batch(config, options.batch_persons * options.batch_pictures, err);
    fit_joining = 1; /* the look at many pictures takes long */
    if (result == 0)
        result = open_people(values, &crop, &dataset, err);
    fit_joining = 0;
    options.model.crop = crop.crop;
    if (result == 0 && values->epochs)
        result = face_fit_epochs_to_steps(&options, dataset, (uint64_t)values->epochs,
                                          &options.steps, err);
    if (result == 0)
        result = fit_watch_open(&values->watch, &COMMAND_FIT_FACE, values, options.model_dir,
                                &options.log, &watch, err);
    struct reducer alone = reducer_single(), *reducer = &alone;
    size_t workers = result == 0 ? tf_config_workers(config) : 0;
    if (workers > 1) {
        struct comm_options comm = {0};
        result = fit_cluster_comm(&values->cluster, config, face_fit_hash(&options, dataset), &comm,
                                  err);
        comm.waiting = fit_watch_wait;
        comm.context = watch.state;
        if (result == 0)
            result = reducer_comm_open(&several, &comm, &fit_joining, err);
        reducer = &several.reducer;
    }
    struct face_fit_result done = {0};
    if (result == 0)
        result = face_fit(&options, dataset, reducer, &done, err);
    if (result == 0 && !done.stopped && reducer->rank == 0)
        report(&options, &done);
    bool stopped = done.stopped;
    face_fit_result_release(&done);
    ty_tf_config_free(config);
    return result == 0 && stopped ? FIT_EXIT_STOPPED : result;
}

static int run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    fit_begin();
    return train(values, err);
}

#define FIELD(name) .offset = offsetof(struct fit_values, name)

static const struct option OPTIONS[] = {
    {.name = "config",
     .type = OPTION_CONFIG,
     FIELD(config),
     .environment = "TRAINER_CONFIG",
     .value = "FILE",
     .help = "YAML or JSON file with values of these options, as 'steps: 400'; the command line "
             "and the environment count more"},
    {.name = "data",
     .aliases = "data-dir",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = "procedural",
     .value = "DIR",
     .help = "folder with one folder a person, or 'procedural' for drawn people"},
    PEOPLE_CROP_OPTION(offsetof(struct fit_values, crop), "auto"),
    {.name = "persons",
     .type = OPTION_INT,
     FIELD(persons),
     .fallback = "120",
     .min = 2,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .help = "drawn people"},
    {.name = "pictures",
     .type = OPTION_INT,
     FIELD(pictures),
     .fallback = "12",
     .min = 2,
     .max = DATASET_PICTURES_MAX,
     .value = "N",
     .help = "pictures of each drawn person"},
    {.name = "held-out",
     .type = OPTION_INT,
     FIELD(held_out),
     .fallback = "20",
     .min = 0,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .help = "people kept out of training, to judge the model by"},
    {.name = "steps",
     .aliases = "train-steps",
     .type = OPTION_INT,
     FIELD(steps),
     .environment = "TF_TRAIN_STEPS",
     .fallback = "400",
     .min = 1,
     .max = 100000000,
     .value = "N",
     .help = "steps in all, those of a run that is resumed included"},
    {.name = "epochs",
     .type = OPTION_INT,
     FIELD(epochs),
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "instead of --steps: as many steps as show each training picture so often, on "
             "average"},
    {.name = "batch",
     .aliases = "batch-size",
     .type = OPTION_INT,
     FIELD(batch),
     .environment = "TF_BATCH_SIZE",
     .fallback = "0",
     .min = 0,
     .max = 65536,
     .value = "N",
     .help = "pictures in a batch of all workers together, instead of --batch-persons; 0: those of "
             "--batch-persons people"},
    {.name = "batch-persons",
     .type = OPTION_INT,
     FIELD(batch_persons),
     .fallback = "24",
     .min = 2,
     .max = 1024,
     .value = "N",
     .help = "people in a batch of all workers together"},
    {.name = "batch-pictures",
     .type = OPTION_INT,
     FIELD(batch_pictures),
     .fallback = "4",
     .min = 2,
     .max = 1024,
     .value = "N",
     .help = "pictures of each of them"},
    {.name = "image-size",
     .type = OPTION_INT,
     FIELD(side),
     .fallback = "48",
     .min = 32,
     .max = 128,
     .value = "PIXELS",
     .help = "side of a picture in pixels, a multiple of 16"},
    {.name = "channels",
     .type = OPTION_INT,
     FIELD(channels),
     .fallback = "1",
     .min = 1,
     .max = 3,
     .value = "N",
     .help = "1 for grey pictures, 3 for colours"},
    {.name = "embedding",
     .type = OPTION_INT,
     FIELD(embedding),
     .fallback = "128",
     .min = 2,
     .max = 1024,
     .value = "N",
     .help = "dimensions of the embedding"},
    {.name = "width",
     .type = OPTION_INT,
     FIELD(width),
     .fallback = "16",
     .min = 8,
     .max = 128,
     .value = "N",
     .help = "channels of the first layer, a multiple of 8; the others follow from it"},
    {.name = "norm",
     .type = OPTION_CHOICE,
     FIELD(norm),
     .fallback = "group",
     .choices = "group|batch",
     .value = "KIND",
     .help = "what evens out the layers: groups of channels of one picture, or each channel over "
             "the batch of all workers"},
    {.name = "light",
     .type = OPTION_CHOICE,
     FIELD(light),
     .fallback = "even",
     .choices = "even|keep",
     .value = "HOW",
     .help = "even: light and contrast of a picture do not count; keep: they do, for pictures all "
             "taken in one place"},
    {.name = "start-from",
     .type = OPTION_PATH,
     FIELD(start_from),
     .value = "FILE",
     .help = "a model of the same shape to start with, instead of values drawn by chance"},
    {.name = "mining",
     .type = OPTION_CHOICE,
     FIELD(mining),
     .fallback = "semi-hard",
     .choices = "semi-hard|batch-hard",
     .value = "KIND",
     .help = "which triplets of a batch to learn from; batch-hard wants a small --learning-rate"},
    {.name = "margin",
     .type = OPTION_REAL,
     FIELD(margin),
     .fallback = "0.4",
     .value = "X",
     .help = "how much nearer one's own pictures must be, in squared distance"},
    {.name = "optimizer",
     .type = OPTION_CHOICE,
     FIELD(optimizer),
     .fallback = "adam",
     .choices = "adam|sgd",
     .value = "KIND",
     .help = "how a gradient changes the parameters"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .environment = "TF_LEARNING_RATE",
     .fallback = "0.003",
     .value = "X",
     .help = "at its highest"},
    {.name = "precision",
     .type = OPTION_CHOICE,
     FIELD(precision),
     .environment = "TRAINER_PRECISION",
     .fallback = "fp32",
     .choices = "fp32|bf16",
     .value = "KIND",
     .help = "of products; bf16 is about twice as fast on processors with AMX"},
    {.name = "schedule",
     .type = OPTION_CHOICE,
     FIELD(schedule),
     .fallback = "cosine",
     .choices = "cosine|constant",
     .value = "KIND",
     .help = "of the learning rate, after the warm-up"},
    {.name = "warm-up",
     .type = OPTION_INT,
     FIELD(warm_up),
     .fallback = "20",
     .min = 0,
     .max = 1000000,
     .value = "N",
     .help = "steps in which the learning rate rises"},
    {.name = "weight-decay",
     .type = OPTION_REAL,
     FIELD(weight_decay),
     .fallback = "0.001",
     .value = "X",
     .help = "pull of the weights towards zero"},
    {.name = "clip",
     .type = OPTION_REAL,
     FIELD(clip),
     .fallback = "0",
     .value = "X",
     .help = "shorten a gradient that is longer than this, over all parameters; 0: never"},
    {.name = "blend",
     .type = OPTION_REAL,
     FIELD(blend),
     .fallback = "0",
     .value = "X",
     .help = "part of a batch's people who are blends of two: for data sets of few people"},
    {.name = "shift",
     .type = OPTION_REAL,
     FIELD(shift),
     .fallback = "0.06",
     .value = "X",
     .help = "how far pictures are shifted at most, in parts of their side"},
    {.name = "turn",
     .type = OPTION_REAL,
     FIELD(turn),
     .fallback = "0.12",
     .value = "X",
     .help = "how far they are turned at most, in radians"},
    {.name = "zoom",
     .type = OPTION_REAL,
     FIELD(zoom),
     .fallback = "0.1",
     .value = "X",
     .help = "how much larger or smaller they get at most"},
    {.name = "shade",
     .type = OPTION_REAL,
     FIELD(shade),
     .fallback = "0.4",
     .value = "X",
     .help = "how much lighter or darker they get at most"},
    {.name = "noise",
     .type = OPTION_REAL,
     FIELD(noise),
     .fallback = "0.01",
     .value = "X",
     .help = "deviation of the noise they get, of a range from 0 to 1"},
    {.name = "cover",
     .type = OPTION_REAL,
     FIELD(cover),
     .fallback = "0.2",
     .value = "X",
     .help = "side of the square that covers a part of them at most"},
    {.name = "plain-pictures",
     .type = OPTION_FLAG,
     FIELD(plain_pictures),
     .help = "show pictures as they are, without shifts, turns and shades"},
    {.name = "seed",
     .type = OPTION_INT,
     FIELD(seed),
     .fallback = "1",
     .min = 0,
     .max = INT64_MAX,
     .value = "N",
     .help = "of everything drawn by chance; the same seed gives the same run"},
    {.name = "threads",
     .type = OPTION_INT,
     FIELD(threads),
     .environment = "TRAINER_THREADS",
     .fallback = "1",
     .min = 1,
     .max = 64,
     .value = "N",
     .help = "threads of this worker"},
    {.name = "loaders",
     .type = OPTION_INT,
     FIELD(loaders),
     .environment = "TRAINER_LOADERS",
     .fallback = "1",
     .min = 0,
     .max = 64,
     .value = "N",
     .help = "threads that make the next batches ahead; 0: none. The result is the same"},
    {.name = "model-dir",
     .aliases = "checkpoint-dir",
     .type = OPTION_PATH,
     FIELD(model_dir),
     .environment = "TRAINER_MODEL_DIR|TF_MODEL_DIR",
     .value = "DIR",
     .help = "where checkpoints and the model go; a run that was broken off goes on from there"},
    {.name = "checkpoint-every",
     .type = OPTION_INT,
     FIELD(checkpoint_every),
     .fallback = "100",
     .min = 0,
     .max = 100000000,
     .value = "N",
     .help = "steps between checkpoints; 0: only at the end"},
    {.name = "keep",
     .type = OPTION_INT,
     FIELD(keep),
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .value = "N",
     .help = "checkpoints to keep"},
    FIT_WATCH_OPTIONS(struct fit_values),
    FIT_CLUSTER_OPTIONS(struct fit_values),
    FIT_ELASTIC_OPTIONS(struct fit_values),
    {0},
};

const struct command COMMAND_FIT_FACE = {
    .name = "face",
    .summary = "train an embedding of faces",
    .description =
        "Trains a face embedding with the triplet loss. Where TF_CONFIG names several workers they "
        "train in step, and the result is that of one worker; the chief, or worker 0, shows the "
        "progress and writes checkpoints and the model.\n\n"
        "At the end the model is judged on people it never saw, beside raw pixels on the same "
        "pairs. SIGTERM saves a checkpoint and ends with code 143; the same command then goes on "
        "from there.",
    .examples = "trainer fit face --data procedural --model-dir model\n"
                "trainer fit face --data people --held-out 10 --model-dir model --log json",
    .options = OPTIONS,
    .values_size = sizeof(struct fit_values),
    .run = run,
};

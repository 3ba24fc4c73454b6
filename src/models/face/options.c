/* The options of `trainer fit face`, and what they mean for the training; see fit_face.h. */
#include "models/face/command.h"

#include "base/str.h"
#include "models/face/people.h"

#include <stdio.h>

static struct face_fit_options read_values(const struct fit_face_values *values)
{
    struct face_fit_options options = FACE_FIT_DEFAULT;
    options.model = (struct face_config){
        .side = (int)values->side,
        .channels = (int)values->channels,
        .embedding = (int)values->embedding,
        .width = (int)values->width,
        .norm = str_eq(values->norm, "batch") ? FACE_NORM_BATCH : FACE_NORM_GROUP,
        .light = str_eq(values->light, "keep") ? FACE_LIGHT_KEEP : FACE_LIGHT_EVEN,
        .five_views = str_eq(values->views, "5"),
        .precision = str_eq(values->shared.precision, "bf16") ? PRECISION_BF16 : PRECISION_FP32,
    };
    options.seed = (uint64_t)values->shared.seed;
    options.steps = (uint64_t)values->steps;
    options.batch_persons = (size_t)values->batch_persons;
    options.batch_pictures = (size_t)values->batch_pictures;
    options.held_out = (size_t)values->held_out;
    options.threads = (int)values->shared.threads;
    options.loaders = (int)values->shared.loaders;
    options.triplet = (struct triplet_config){
        .mining = str_eq(values->mining, "batch-hard") ? TRIPLET_BATCH_HARD : TRIPLET_SEMI_HARD,
        .margin = (float)values->margin,
    };
    options.optimizer = str_eq(values->optimizer, "sgd") ? OPTIMIZER_SGD : OPTIMIZER_ADAM;
    options.weight_decay = (float)values->weight_decay;
    options.clip = (float)values->shared.clip;
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
        .backdrop = (float)values->backdrop,
        .mirror = true,
    };
    if (values->plain_pictures)
        options.augment = (struct augment){0};
    options.blend = (float)values->blend;
    options.reshape = (float)values->reshape;
    options.start_from = str_is_empty(values->start_from) ? NULL : values->start_from;
    options.model_dir = str_is_empty(values->shared.model_dir) ? NULL : values->shared.model_dir;
    options.checkpoint_every = (uint64_t)values->shared.checkpoint_every;
    options.keep = (size_t)values->shared.keep;
    options.log.style = fit_log_style(values->shared.cluster.log);
    options.log.stream = stdout;
    options.stop = &fit_stop_asked;
    return options;
}

/* --batch counts pictures, of which every person of the batch has the same number. */
static int take_batch(const struct fit_face_values *values, struct face_fit_options *options,
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

int fit_face_options_of(const struct fit_face_values *values, struct face_fit_options *ret,
                        struct err *err)
{
    *ret = read_values(values);
    if (face_config_check(&ret->model, err) < 0)
        return fit_refuse_usage(err);
    return take_batch(values, ret, err);
}

#define FIELD(name) .offset = offsetof(struct fit_face_values, name)

const struct option FIT_FACE_OPTIONS[] = {
    {.name = "data",
     .aliases = "data-dir",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TRAINER_DATA|TF_DATA_DIR",
     .fallback = "procedural",
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "folder with one folder a person, or 'procedural' for drawn people"},
    PEOPLE_CROP_OPTION(offsetof(struct fit_face_values, crop), "auto"),
    {.name = "persons",
     .type = OPTION_INT,
     FIELD(persons),
     .fallback = "120",
     .min = 2,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "drawn people"},
    {.name = "pictures",
     .type = OPTION_INT,
     FIELD(pictures),
     .fallback = "12",
     .min = 2,
     .max = DATASET_PICTURES_MAX,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "pictures of each drawn person"},
    {.name = "held-out",
     .type = OPTION_INT,
     FIELD(held_out),
     .fallback = "20",
     .min = 0,
     .max = DATASET_PERSONS_MAX,
     .value = "N",
     .marks = FIT_KEPT,
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
     .multiple_of = 16,
     .value = "PIXELS",
     .marks = FIT_KEPT,
     .help = "side of a picture in pixels, a multiple of 16 from 32 to 128"},
    {.name = "channels",
     .type = OPTION_INT,
     FIELD(channels),
     .fallback = "1",
     .min = 1,
     .max = 3,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "1 for grey pictures, 3 for colours"},
    {.name = "embedding",
     .type = OPTION_INT,
     FIELD(embedding),
     .fallback = "128",
     .min = 2,
     .max = 1024,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "dimensions of the embedding"},
    {.name = "width",
     .type = OPTION_INT,
     FIELD(width),
     .fallback = "16",
     .min = 8,
     .max = 128,
     .multiple_of = 8,
     .value = "N",
     .marks = FIT_KEPT,
     .help = "channels of the first layer, a multiple of 8 up to 128; the others follow from it"},
    {.name = "norm",
     .type = OPTION_CHOICE,
     FIELD(norm),
     .fallback = "group",
     .choices = "group|batch",
     .value = "KIND",
     .marks = FIT_KEPT,
     .help = "what evens out the layers: groups of channels of one picture, or each channel over "
             "the batch of all workers"},
    {.name = "light",
     .type = OPTION_CHOICE,
     FIELD(light),
     .fallback = "even",
     .choices = "even|keep",
     .value = "HOW",
     .marks = FIT_KEPT,
     .help = "even: light and contrast of a picture do not count; keep: they do, for pictures all "
             "taken in one place"},
    {.name = "views",
     .type = OPTION_CHOICE,
     FIELD(views),
     .fallback = "1",
     .choices = "1|5",
     .value = "N",
     .help = "what an embedding is the mean of, whenever the model is used: the picture alone, or "
             "also the picture moved a little each way, which tells people apart better and takes "
             "five times as long"},
    {.name = "start-from",
     .type = OPTION_PATH,
     FIELD(start_from),
     .value = "FILE",
     .marks = FIT_FREE,
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
     .range = {.min = 0, .max = 4, .above_min = true},
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
     .range = {.min = 0, .max = 100, .above_min = true},
     .value = "X",
     .help = "at its highest"},
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
     .range = {0, 100},
     .value = "X",
     .help = "pull of the weights towards zero"},
    {.name = "blend",
     .type = OPTION_REAL,
     FIELD(blend),
     .fallback = "0",
     .range = {0, 1},
     .value = "X",
     .help = "part of a batch's people who are blends of two: for data sets of few people"},
    {.name = "reshape",
     .type = OPTION_REAL,
     FIELD(reshape),
     .fallback = "0",
     .range = {0, 1},
     .value = "X",
     .help = "how far the parts of a blend's face are moved at most, in parts of the picture's "
             "side: alike in all its pictures"},
    {.name = "shift",
     .type = OPTION_REAL,
     FIELD(shift),
     .fallback = "0.06",
     .range = {0, 1},
     .value = "X",
     .help = "how far pictures are shifted at most, in parts of their side"},
    {.name = "turn",
     .type = OPTION_REAL,
     FIELD(turn),
     .fallback = "0.12",
     .range = {0, 1},
     .value = "X",
     .help = "how far they are turned at most, in radians"},
    {.name = "zoom",
     .type = OPTION_REAL,
     FIELD(zoom),
     .fallback = "0.1",
     .range = {0, 1},
     .value = "X",
     .help = "how much larger or smaller they get at most"},
    {.name = "shade",
     .type = OPTION_REAL,
     FIELD(shade),
     .fallback = "0.4",
     .range = {0, 1},
     .value = "X",
     .help = "how much lighter or darker they get at most"},
    {.name = "noise",
     .type = OPTION_REAL,
     FIELD(noise),
     .fallback = "0.01",
     .range = {0, 1},
     .value = "X",
     .help = "deviation of the noise they get, of a range from 0 to 1"},
    {.name = "cover",
     .type = OPTION_REAL,
     FIELD(cover),
     .fallback = "0.2",
     .range = {0, 1},
     .value = "X",
     .help = "side of the square that covers a part of them at most"},
    {.name = "backdrop",
     .type = OPTION_REAL,
     FIELD(backdrop),
     .fallback = "0",
     .range = {0, 1},
     .value = "X",
     .help = "how much lighter or darker what is around the face gets at most: where the walls "
             "behind people would tell who they are"},
    {.name = "plain-pictures",
     .type = OPTION_FLAG,
     FIELD(plain_pictures),
     .help = "show pictures as they are, without shifts, turns and shades"},
    {.more = FIT_NETWORK_OPTIONS},
};

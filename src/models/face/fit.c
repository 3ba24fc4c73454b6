/* Implements the training of a face model; see fit.h. */
#include "models/face/fit.h"

#include "base/mem.h"
#include "models/face/pictures.h"
#include "train/data/batch_feed.h"
#include "train/run/checkpoint.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The state of one training run. */
struct fit {
    const struct face_fit_options *options;
    const struct dataset *dataset;
    struct reducer *reducer;
    struct face_model *model;
    struct face_trainer *trainer;
    struct face_pictures *pictures;
    struct run_log *log;
    struct dataset_split split;
    struct batch_feed *feed;
    int claim; /* file descriptor that locks the model directory; -1: none */
};

static void face_fit_release(struct fit *fit)
{
    if (fit->claim >= 0)
        close(fit->claim);
    batch_feed_free(fit->feed);
    run_log_free(fit->log);
    face_trainer_free(fit->trainer);
    face_model_free(fit->model);
    face_pictures_free(fit->pictures);
    dataset_split_release(&fit->split);
}

size_t face_fit_numbers(const struct face_fit_options *options, const struct dataset *dataset,
                        uint64_t ret[MODEL_NUMBERS_MAX])
{
    const struct face_config *model = &options->model;
    const uint64_t numbers[] = {
        (uint64_t)model->side,
        (uint64_t)model->channels,
        (uint64_t)model->embedding,
        (uint64_t)model->width,
        (uint64_t)model->norm,
        (uint64_t)model->light,
        (uint64_t)model->precision,
        (uint64_t)model->crop,
        model->five_views,
        options->fit.seed,
        options->steps,
        options->batch_persons,
        options->batch_pictures,
        options->held_out,
        (uint64_t)options->triplet.mining,
        (uint64_t)options->optimizer,
        (uint64_t)options->schedule,
        options->warm_up,
        dataset_persons(dataset),
        dataset_total(dataset),
        model_hash_float(options->triplet.margin),
        model_hash_float(options->rate),
        model_hash_float(options->weight_decay),
        model_hash_float(options->fit.clip),
        model_hash_float(options->blend),
        model_hash_float(options->reshape),
        model_hash_float(options->augment.shift),
        model_hash_float(options->augment.turn),
        model_hash_float(options->augment.scale),
        model_hash_float(options->augment.gamma),
        model_hash_float(options->augment.noise),
        model_hash_float(options->augment.cover),
        model_hash_float(options->augment.backdrop),
        options->augment.mirror,
        options->start_from != NULL,
    };
    _Static_assert(ARRAY_SIZE(numbers) <= MODEL_NUMBERS_MAX, "the list of numbers is too long");
    memcpy(ret, numbers, sizeof(numbers));
    return ARRAY_SIZE(numbers);
}

void face_fit_model_path(const char *model_dir, char *path, size_t size)
{
    snprintf(path, size, "%s/face.model", model_dir);
}

/* Fills this worker's share of a batch. Several loader threads call it at the same time. */
static int face_fit_fill_batch(void *context, uint64_t step, size_t first, size_t count,
                               struct batch *batch, struct err *err)
{
    const struct fit *fit = context;
    const struct face_fit_options *options = fit->options;
    size_t all = options->batch_persons * options->batch_pictures;
    size_t sample = face_config_sample(&options->model);
    _cleanup_free_ struct face_batch_entry *entries = mem_calloc(all, sizeof(*entries));
    const struct face_batch_options draw = {
        .seed = options->fit.seed,
        .persons = options->batch_persons,
        .pictures = options->batch_pictures,
        .blended = (size_t)(options->blend * (float)options->batch_persons),
        .reshape = options->reshape,
    };
    int result = face_batch_draw(fit->dataset, &fit->split.train, &draw, step, entries, err);
    for (size_t i = 0; result == 0 && i < all; i++)
        batch->labels[i] = entries[i].label;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = face_pictures_load_input(fit->pictures, &options->augment, &entries[first + i],
                                          options->fit.seed, step, first + i,
                                          batch->inputs + i * sample, err);
    return result;
}

/* Makes the feed load this worker's share of every later batch. */
static void face_fit_take_share(struct fit *fit)
{
    int first, count;
    face_trainer_share(fit->trainer, &first, &count);
    batch_feed_share(fit->feed, (size_t)first, (size_t)count);
}

/* Copies the parameter values of the model that --start-from names. */
static int face_fit_first_values(void *context, struct err *err)
{
    struct fit *fit = context;
    const char *path = fit->options->start_from;
    if (!path)
        return 0;
    _cleanup_(cleanup_checkpoint) struct checkpoint *other = NULL;
    int result = checkpoint_read(path, &other, err);
    if (result == 0)
        result = checkpoint_restore(other, path, face_model_params(fit->model), NULL, err);
    return result < 0 ? err_wrap(err, "cannot start from another model") : 0;
}

static int face_fit_start(struct fit *fit, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    if (dataset_persons(fit->dataset) < 2)
        return err_set(err, ERR_INVALID,
                       "all pictures are of one person, '%s': training needs at least two people",
                       dataset_person_name(fit->dataset, 0));
    int result =
        dataset_split_persons(fit->dataset, options->fit.seed, options->held_out, &fit->split, err);
    if (result < 0)
        return result;
    if (!(options->rate > 0 && options->rate <= 100) || !(options->triplet.margin > 0) ||
        !(options->triplet.margin <= 4) ||
        !(options->weight_decay >= 0 && options->weight_decay < 100))
        return err_set(
            err, ERR_INVALID,
            "learning rate %g, margin %g and weight decay %g: the rate must lie between "
            "0 and 100, the margin between 0 and 4, the decay must be at least 0 and below 100",
            (double)options->rate, (double)options->triplet.margin, (double)options->weight_decay);
    result = optimizer_clip_check(options->fit.clip, err);
    if (result < 0)
        return result;
    if (options->batch_persons < 2 || options->batch_pictures < 2)
        return err_set(err, ERR_INVALID,
                       "a batch of %zu persons with %zu pictures has no triplets: use at least 2 "
                       "of each",
                       options->batch_persons, options->batch_pictures);
    if (fit->split.train.count < options->batch_persons)
        return err_set(err, ERR_INVALID,
                       "%zu persons are left to train on (%zu held out), fewer than the %zu of a "
                       "batch: hold out fewer, or make the batch smaller",
                       fit->split.train.count, options->held_out, options->batch_persons);
    if (!(options->blend >= 0 && options->blend <= 1) ||
        !(options->reshape >= 0 && options->reshape <= 1) || !augment_is_sane(&options->augment))
        return err_set(err, ERR_INVALID,
                       "--blend, --reshape and the values of the augmentation must be from 0 to 1");
    result = face_model_new(&options->model, &fit->model, err);
    if (result < 0)
        return result;
    params_initialise(face_model_params(fit->model), options->fit.seed);
    struct face_trainer_options trainer = {
        .batch = (int)(options->batch_persons * options->batch_pictures),
        .threads = options->fit.threads,
        .triplet = options->triplet,
        .optimizer = options->optimizer,
        .weight_decay = options->weight_decay,
        .clip = options->fit.clip,
        .schedule = {.kind = options->schedule,
                     .rate = options->rate,
                     .warm_up = options->warm_up,
                     .steps = options->steps},
        .reducer = fit->reducer,
    };
    result = face_trainer_new(&trainer, fit->model, &fit->trainer, err);
    if (result < 0)
        return result;
    fit->pictures = face_pictures_new(fit->dataset, &options->model);
    struct batch_feed_options feed = {
        .batch = options->batch_persons * options->batch_pictures,
        .sample = face_config_sample(&options->model),
        .loaders = options->fit.loaders,
        .context = fit,
        .fill = face_fit_fill_batch,
    };
    result = batch_feed_new(&feed, &fit->feed, err);
    if (result == 0)
        face_fit_take_share(fit);
    return result;
}

static double face_fit_epoch_steps(const struct face_fit_options *options,
                                   const struct dataset *dataset, const struct dataset_split *split)
{
    size_t pictures = 0;
    for (size_t i = 0; i < split->train.count; i++)
        pictures += dataset_pictures(dataset, split->train.items[i]);
    return (double)pictures / (double)(options->batch_persons * options->batch_pictures);
}

int face_fit_epochs_to_steps(const struct face_fit_options *options, const struct dataset *dataset,
                             uint64_t epochs, uint64_t *ret, struct err *err)
{
    struct dataset_split split = {0};
    int result = dataset_split_persons(dataset, options->fit.seed, options->held_out, &split, err);
    if (result < 0)
        return result;
    double steps = (double)epochs * face_fit_epoch_steps(options, dataset, &split);
    *ret = steps < 1 ? 1 : (uint64_t)(steps + 0.5);
    dataset_split_release(&split);
    return 0;
}

static int face_fit_step(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                         struct err *err)
{
    struct fit *fit = context;
    const struct batch *batch = NULL;
    int result = batch_feed_take(fit->feed, step, &batch, err);
    if (result < 0)
        return result;
    struct face_trainer_step done;
    result = face_trainer_step(fit->trainer, step, batch->inputs, batch->labels, stop, &done, err);
    if (result == 0)
        *ret = (struct fit_loop_step){
            .loss = done.loss.loss,
            .rate = done.rate,
            .accuracy = (double)NAN,
            .stop = done.stop,
            .join_requested = done.join_requested,
        };
    return result;
}

static void face_fit_changed(void *context)
{
    struct fit *fit = context;
    face_model_changed(fit->model);
}

static float *face_fit_learned(void *context, size_t *ret_count)
{
    struct fit *fit = context;
    return face_trainer_learned(fit->trainer, ret_count);
}

static int face_fit_regroup(void *context, struct err *err)
{
    struct fit *fit = context;
    int result = face_trainer_regroup(fit->trainer, err);
    if (result == 0)
        face_fit_take_share(fit);
    return result;
}

static struct json *face_fit_config(void *context, struct arena *arena)
{
    const struct fit *fit = context;
    return face_config_to_json(arena, &fit->options->model);
}

const struct model_steps FACE_FIT_STEPS = {
    .step = face_fit_step,
    .first_values = face_fit_first_values,
    .changed = face_fit_changed,
    .learned = face_fit_learned,
    .regroup = face_fit_regroup,
    .config = face_fit_config,
};

/* Measures the distances of strangers on held-out people if there are enough of them, else on the
 * training people. Adds the distribution to the notes of the model file. */
static int face_fit_note_strangers(struct fit *fit, struct arena *arena, struct json *notes,
                                   struct err *err)
{
    bool held_out = fit->split.held_out.count >= FACE_STRANGERS_PEOPLE_MIN;
    struct face_strangers strangers = {0};
    int result =
        face_eval_strangers(fit->model, fit->dataset,
                            held_out ? &fit->split.held_out : &fit->split.train, &strangers, err);
    strangers.trained_on = !held_out;
    if (result == 0 && strangers.people)
        json_set(arena, notes, "strangers", face_strangers_to_json(arena, &strangers));
    return result;
}

/* Evaluates the model on held-out people, if there are at least 2, and writes the model file, if
 * there is a model directory. Called on rank 0 after the last step. */
static int face_fit_conclude(struct fit *fit, struct face_fit_result *outcome, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *notes = json_object(arena);
    if (fit->split.held_out.count >= 2) {
        int result =
            face_eval_run(fit->model, fit->dataset, &fit->split.held_out, &outcome->eval, err);
        if (result < 0)
            return result;
        outcome->evaluated = true;
        run_log_metric(fit->log, outcome->last, "accuracy", outcome->eval.model.accuracy);
        run_log_metric(fit->log, outcome->last, "auc", outcome->eval.model.auc);
        char text[512];
        face_eval_sentence(&outcome->eval, text, sizeof(text));
        run_log_result(fit->log, text);
        json_set(arena, notes, "heldOut", face_eval_to_json(arena, &outcome->eval));
    }
    if (!fit->options->fit.model_dir)
        return 0;
    int result = face_fit_note_strangers(fit, arena, notes, err);
    if (result < 0)
        return result;
    char path[CHECKPOINT_PATH_MAX];
    face_fit_model_path(fit->options->fit.model_dir, path, sizeof(path));
    struct checkpoint_info info = {.model = FACE_MODEL.command.name,
                                   .config = face_config_to_json(arena, &fit->options->model),
                                   .notes = notes,
                                   .step = outcome->last,
                                   .seed = fit->options->fit.seed};
    return checkpoint_write(path, face_model_params(fit->model), NULL, &info, err);
}

static int face_fit_run(struct fit *fit, struct face_fit_result *outcome, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    int result = face_fit_start(fit, err);
    if (result < 0)
        return result;
    char start[256], kernels[64];
    kernels_sentence(options->model.precision, kernels, sizeof(kernels));
    snprintf(start, sizeof(start),
             "face model: %zu parameters, pictures of %d×%d, %zu people to train on, %zu held "
             "out, %d worker%s, kernels %s",
             params_trainable(face_model_params(fit->model)), options->model.side,
             options->model.side, fit->split.train.count, fit->split.held_out.count,
             fit->reducer->size, fit->reducer->size == 1 ? "" : "s", kernels);
    fit->log = run_log_new(&options->fit.log,
                           &(struct run_log_subject){.model = FACE_MODEL.command.name,
                                                     .directory = options->fit.model_dir,
                                                     .unit = FACE_MODEL.unit,
                                                     .steps_per_epoch = face_fit_epoch_steps(
                                                         options, fit->dataset, &fit->split)});
    struct fit_loop loop = {
        .model = &FACE_MODEL,
        .context = fit,
        .options = &options->fit,
        .steps = options->steps,
        .batch = options->batch_persons * options->batch_pictures,
        .log = fit->log,
        .start = start,
        .claim = &fit->claim,
        .reducer = fit->reducer,
        .params = face_model_params(fit->model),
        .optimizer = face_trainer_optimizer(fit->trainer),
    };
    struct fit_loop_result done;
    result = fit_loop_run(&loop, &done, err);
    if (result < 0)
        return result;
    outcome->first = done.first;
    outcome->last = done.last;
    outcome->stopped = done.stopped;
    outcome->loss = done.loss;
    result = !done.stopped && fit->reducer->rank == 0 ? face_fit_conclude(fit, outcome, err) : 0;
    return result < 0 ? result : fit_loop_check_saved(&done, err);
}

int face_fit(const struct face_fit_options *options, const struct dataset *dataset,
             struct reducer *reducer, struct face_fit_result *ret, struct err *err)
{
    struct face_fit_result outcome = {0};
    _cleanup_(face_fit_release) struct fit fit = {
        .options = options, .dataset = dataset, .reducer = reducer, .claim = -1};
    int result = face_fit_run(&fit, &outcome, err);
    if (result < 0) {
        face_fit_result_release(&outcome);
        return result;
    }
    *ret = outcome;
    return 0;
}

void face_fit_result_release(struct face_fit_result *result)
{
    face_eval_release(&result->eval);
}

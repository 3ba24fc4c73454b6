/* Training a face model from beginning to end; see face_fit.h. */
#include "models/face_fit.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "models/face_pictures.h"
#include "train/checkpoint.h"

#include <string.h>

/* What lives as long as one run. */
struct fit {
    const struct face_fit_options *options;
    const struct dataset *dataset;
    struct reducer *reducer;
    struct face_model *model;
    struct face_trainer *trainer;
    struct face_pictures *pictures;
    struct dataset_split split;
    struct dataset_sample *samples; /* of the global batch */
    int *labels;
    float *inputs; /* of this worker's share */
    int first, count;
    struct progress progress;
    bool speaks; /* rank 0 with a stream */
};

static void fit_release(struct fit *fit)
{
    face_trainer_free(fit->trainer);
    face_model_free(fit->model);
    face_pictures_free(fit->pictures);
    dataset_split_release(&fit->split);
    free(fit->samples);
    free(fit->labels);
    free(fit->inputs);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        hash = (hash ^ (value & 0xff)) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_float(uint64_t hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return mix(hash, bits);
}

uint64_t face_fit_hash(const struct face_fit_options *options, const struct dataset *dataset)
{
    const struct face_config *model = &options->model;
    const uint64_t numbers[] = {
        (uint64_t)model->side,
        (uint64_t)model->channels,
        (uint64_t)model->embedding,
        (uint64_t)model->width,
        options->seed,
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
    };
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        hash = mix(hash, numbers[i]);
    hash = mix_float(hash, options->triplet.margin);
    hash = mix_float(hash, options->rate);
    return mix_float(hash, options->weight_decay);
}

void face_fit_model_path(const char *model_dir, char *path, size_t size)
{
    snprintf(path, size, "%s/face.model", model_dir);
}

static int fit_start(struct fit *fit, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    int result =
        dataset_split_persons(fit->dataset, options->seed, options->held_out, &fit->split, err);
    if (result < 0)
        return result;
    if (!(options->rate > 0 && options->rate < 100) || !(options->triplet.margin > 0) ||
        !(options->triplet.margin <= 4) ||
        !(options->weight_decay >= 0 && options->weight_decay < 100))
        return err_set(err, ERR_INVALID,
                       "learning rate %g, margin %g and weight decay %g: the rate must lie between "
                       "0 and 100, the margin between 0 and 4, the decay from 0 to 100",
                       (double)options->rate, (double)options->triplet.margin,
                       (double)options->weight_decay);
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
    result = face_model_new(&options->model, &fit->model, err);
    if (result < 0)
        return result;
    params_initialise(face_model_params(fit->model), options->seed);
    struct face_trainer_options trainer = {
        .batch = (int)(options->batch_persons * options->batch_pictures),
        .threads = options->threads,
        .triplet = options->triplet,
        .optimizer = options->optimizer,
        .weight_decay = options->weight_decay,
        .schedule = {.kind = options->schedule,
                     .rate = options->rate,
                     .warm_up = options->warm_up,
                     .steps = options->steps},
        .reducer = fit->reducer,
    };
    result = face_trainer_new(&trainer, fit->model, &fit->trainer, err);
    if (result < 0)
        return result;
    face_trainer_share(fit->trainer, &fit->first, &fit->count);
    size_t sample = face_config_sample(&options->model);
    fit->pictures = face_pictures_new(fit->dataset, &options->model);
    fit->samples = mem_calloc((size_t)trainer.batch, sizeof(*fit->samples));
    fit->labels = mem_calloc((size_t)trainer.batch, sizeof(*fit->labels));
    fit->inputs = mem_calloc((size_t)fit->count * sample + 1, sizeof(*fit->inputs));
    return 0;
}

/* Newest first; one that is damaged is passed over with a word about it, one that is of another
 * model is an error. */
static int restore_newest(struct fit *fit, uint64_t *ret_step, struct err *err)
{
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    int result = checkpoint_list(fit->options->model_dir, &steps, &count, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
        char path[CHECKPOINT_PATH_MAX];
        struct err problem = ERR_INIT;
        checkpoint_path(fit->options->model_dir, steps[i], path);
        if (checkpoint_read(path, &checkpoint, &problem) < 0) {
            if (fit->speaks)
                progress_note(&fit->progress, "warning", "%s; looking for an older one",
                              problem.message);
            continue;
        }
        if (checkpoint->info.seed != fit->options->seed)
            return err_set(err, ERR_INVALID,
                           "'%s' was made with seed %llu, this run has %llu: use another "
                           "--model-dir, or the same seed",
                           path, (unsigned long long)checkpoint->info.seed,
                           (unsigned long long)fit->options->seed);
        result = checkpoint_restore(checkpoint, path, face_model_params(fit->model),
                                    face_trainer_optimizer(fit->trainer), err);
        if (result < 0)
            return err_wrap(err, "cannot resume (use another --model-dir, or remove the old one)");
        *ret_step = checkpoint->info.step;
        return 0;
    }
    return result;
}

/* All workers take over the state of the one that came farthest: at the start that is rank 0 with
 * its checkpoint, after a loss any that lived on. */
static int agree(struct fit *fit, bool ready, uint64_t *step, struct err *err)
{
    enum { HALF = 20 }; /* bits of a step in one float, which holds 24 exactly */
    struct reducer *reducer = fit->reducer;
    float own[3] = {ready ? 1 : 0, (float)(*step >> HALF), (float)(*step & ((1 << HALF) - 1))};
    _cleanup_free_ float *all = mem_calloc((size_t)reducer->size * ARRAY_SIZE(own), sizeof(*all));
    int result = reducer->allgather(reducer, own, ARRAY_SIZE(own), all, err);
    if (result < 0)
        return result;
    int holder = 0;
    uint64_t farthest = 0;
    for (int rank = 0; rank < reducer->size; rank++) {
        const float *theirs = all + (size_t)rank * ARRAY_SIZE(own);
        uint64_t there = ((uint64_t)theirs[1] << HALF) + (uint64_t)theirs[2];
        if (theirs[0] == 0)
            return err_set(err, ERR_UNAVAILABLE, "the first worker cannot start; its log says why");
        if (there > farthest) {
            farthest = there;
            holder = rank;
        }
    }
    struct params *params = face_model_params(fit->model);
    struct optimizer *optimizer = face_trainer_optimizer(fit->trainer);
    size_t slots = (size_t)optimizer->slot_count * optimizer->floats;
    if (reducer->rank != holder) { /* so that the sum over all is what the holder has */
        memset(params->values, 0, params->floats * sizeof(float));
        memset(optimizer->slots, 0, slots * sizeof(float));
    }
    result = reducer->allreduce(reducer, params->values, params->floats, err);
    if (result == 0)
        result = reducer->allreduce(reducer, optimizer->slots, slots, err);
    if (result < 0)
        return result;
    face_model_changed(fit->model);
    face_trainer_restart(fit->trainer);
    *step = farthest;
    return 0;
}

/* Rank 0 reads the newest checkpoint, and the others hear of it, also if that fails. */
static int fit_resume(struct fit *fit, uint64_t *ret_step, struct err *err)
{
    struct err problem = ERR_INIT;
    int restored = 0;
    uint64_t step = 0;
    if (fit->reducer->rank == 0 && fit->options->model_dir) {
        restored = restore_newest(fit, &step, &problem);
        if (restored == 0)
            restored = file_make_dirs(fit->options->model_dir, 0755, &problem);
    }
    int result = agree(fit, restored == 0, &step, err);
    if (restored < 0)
        return err_set(err, problem.code, "%s", problem.message);
    if (result == 0)
        *ret_step = step;
    return result;
}

static int save(struct fit *fit, uint64_t step, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char path[CHECKPOINT_PATH_MAX];
    struct checkpoint_info info = {.model = "face",
                                   .config = face_config_to_json(arena, &fit->options->model),
                                   .step = step,
                                   .seed = fit->options->seed};
    checkpoint_path(fit->options->model_dir, step, path);
    int result = checkpoint_write(path, face_model_params(fit->model),
                                  face_trainer_optimizer(fit->trainer), &info, err);
    if (result == 0)
        result = checkpoint_prune(fit->options->model_dir, fit->options->keep, err);
    return result;
}

static int one_step(struct fit *fit, uint64_t step, struct face_trainer_step *ret, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    size_t sample = face_config_sample(&options->model);
    int result =
        dataset_draw_batch(fit->dataset, &fit->split.train, options->seed, step,
                           options->batch_persons, options->batch_pictures, fit->samples, err);
    for (size_t i = 0; result == 0 && i < options->batch_persons * options->batch_pictures; i++)
        fit->labels[i] = (int)fit->samples[i].person;
    for (int i = 0; result == 0 && i < fit->count; i++)
        result = face_pictures_load_changed(
            fit->pictures, &options->augment, &fit->samples[fit->first + i], options->seed, step,
            (uint64_t)fit->first + (uint64_t)i, fit->inputs + (size_t)i * sample, err);
    if (result < 0)
        return result;
    bool stop = options->stop && *options->stop;
    return face_trainer_step(fit->trainer, step, fit->inputs, fit->labels, stop, ret, err);
}

/* A step that failed has changed nothing here, though it may have succeeded elsewhere. What was
 * done is saved, in case nobody comes back; then the workers find together and go on. */
static int recover(struct fit *fit, int failed, struct face_fit_result *result, struct err *err)
{
    if (fit->reducer->rank == 0 && fit->options->model_dir && result->last > result->first)
        (void)save(fit, result->last, NULL);
    bool stopping = fit->options->stop && *fit->options->stop;
    while (failed == -ERR_UNAVAILABLE && fit->reducer->reform && !stopping) {
        if (fit->speaks)
            progress_note(&fit->progress, "lost", "%s; waiting for all workers to be there again",
                          err->message);
        failed = fit->reducer->reform(fit->reducer, err);
        if (failed == 0)
            failed = agree(fit, true, &result->last, err);
        stopping = fit->options->stop && *fit->options->stop;
    }
    if (failed == 0 && fit->speaks)
        progress_note(&fit->progress, "reformed", "all workers are there; going on after step %llu",
                      (unsigned long long)result->last);
    return failed;
}

static int run_steps(struct fit *fit, struct face_fit_result *result, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    bool writes = fit->reducer->rank == 0 && options->model_dir;
    for (uint64_t step = result->first + 1; step <= options->steps; step++) {
        struct face_trainer_step done;
        int failed = one_step(fit, step, &done, err);
        if (failed < 0) {
            failed = recover(fit, failed, result, err);
            if (failed < 0)
                return err_wrap(err, "step %llu", (unsigned long long)step);
            step = result->last;
            continue;
        }
        result->last = step;
        result->loss = done.loss.loss;
        if (fit->speaks) {
            struct progress_step shown = {
                .step = step,
                .loss = done.loss.loss,
                .pictures = options->batch_persons * options->batch_pictures,
                .rate = (double)done.rate,
            };
            progress_show(&fit->progress, &shown, moment_monotonic_ns());
        }
        bool last = done.stop || step == options->steps;
        if (writes &&
            (last || (options->checkpoint_every && step % options->checkpoint_every == 0))) {
            failed = save(fit, step, err);
            if (failed < 0)
                return failed;
        }
        if (done.stop && step < options->steps) {
            result->stopped = true;
            if (fit->speaks)
                progress_note(&fit->progress, "stopped",
                              writes ? "stopped after step %llu; the next run goes on from there"
                                     : "stopped after step %llu",
                              (unsigned long long)step);
            return 0;
        }
    }
    return 0;
}

/* Rank 0: the judgement on people held out, and the model file with it. */
static int conclude(struct fit *fit, struct face_fit_result *result, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *notes = NULL;
    if (fit->split.held_out.count >= 2) {
        int failed =
            face_eval_run(fit->model, fit->dataset, &fit->split.held_out, &result->eval, err);
        if (failed < 0)
            return failed;
        result->judged = true;
        notes = json_object(arena);
        json_set(arena, notes, "heldOut", face_eval_to_json(arena, &result->eval));
    }
    if (!fit->options->model_dir)
        return 0;
    char path[CHECKPOINT_PATH_MAX];
    face_fit_model_path(fit->options->model_dir, path, sizeof(path));
    struct checkpoint_info info = {.model = "face",
                                   .config = face_config_to_json(arena, &fit->options->model),
                                   .notes = notes,
                                   .step = result->last,
                                   .seed = fit->options->seed};
    return checkpoint_write(path, face_model_params(fit->model), NULL, &info, err);
}

static int run(struct fit *fit, struct face_fit_result *result, struct err *err)
{
    const struct face_fit_options *options = fit->options;
    fit->speaks = fit->reducer->rank == 0 && options->stream;
    if (fit->speaks)
        progress_init(&fit->progress, options->stream, options->log, 0, options->steps,
                      moment_monotonic_ns());
    int failed = fit_start(fit, err);
    if (failed == 0)
        failed = fit_resume(fit, &result->first, err);
    if (failed < 0)
        return failed;
    result->last = result->first;
    if (fit->speaks) {
        progress_note(&fit->progress, "start",
                      "face model: %zu parameters, pictures of %d×%d, %zu people to train on, %zu "
                      "held out, %d worker%s, kernels %s",
                      params_trainable(face_model_params(fit->model)), options->model.side,
                      options->model.side, fit->split.train.count, fit->split.held_out.count,
                      fit->reducer->size, fit->reducer->size == 1 ? "" : "s", kernels_best()->name);
        if (result->first)
            progress_note(&fit->progress, "resumed", "resumed after step %llu",
                          (unsigned long long)result->first);
        progress_init(&fit->progress, options->stream, options->log, result->first, options->steps,
                      moment_monotonic_ns());
    }
    failed = run_steps(fit, result, err);
    if (fit->speaks)
        progress_finish(&fit->progress);
    if (failed == 0 && !result->stopped && fit->reducer->rank == 0)
        failed = conclude(fit, result, err);
    return failed;
}

int face_fit(const struct face_fit_options *options, const struct dataset *dataset,
             struct reducer *reducer, struct face_fit_result *ret, struct err *err)
{
    struct face_fit_result result = {0};
    _cleanup_(fit_release) struct fit fit = {
        .options = options, .dataset = dataset, .reducer = reducer};
    int failed = run(&fit, &result, err);
    if (failed < 0) {
        face_fit_result_release(&result);
        return failed;
    }
    *ret = result;
    return 0;
}

void face_fit_result_release(struct face_fit_result *result)
{
    face_eval_release(&result->eval);
}

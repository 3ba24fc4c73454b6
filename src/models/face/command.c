/* trainer fit face: train the face embedding, alone or with the other workers of the cluster. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "cli/trainer/fit_report.h"
#include "models/face/command.h"
#include "models/face/people.h"
#include "train/run/fit_terms.h"
#include "train/team/reducer_comm.h"

#include <stdio.h>

static int check_roles(const struct ty_tf_config *config, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role == TY_ROLE_PS || self->role == TY_ROLE_EVALUATOR)
        return err_set(err, ERR_UNSUPPORTED,
                       "this task is '%s', which synchronous training does not have yet: give the "
                       "job a chief and workers only",
                       ty_role_name(self->role));
    if (ty_tf_config_count(config, TY_ROLE_PS) > 0)
        fprintf(stderr, "trainer: faces are trained in step: the parameter servers of this cluster "
                        "are not used; leave them out of the job\n");
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
        fit_report_set(arena, line, options->model_dir);
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
    fit_report_print(options->model_dir);
}

/* Drawn people are cut already. */
static int open_people(const struct fit_face_values *values, struct people_crop *crop,
                       struct dataset **ret, struct err *err)
{
    enum face_crop wanted = FACE_CROP_OFF;
    if (people_are_drawn(values->data))
        return dataset_open_procedural((uint64_t)values->shared.seed, (size_t)values->persons,
                                       (size_t)values->pictures, ret, err);
    int result = face_crop_from_name(values->crop, &wanted, err);
    if (result == 0)
        result = people_crop_open(wanted, crop, err);
    if (result == 0)
        result = people_open_training(values->data, crop, (int)values->shared.threads, ret, err);
    return result;
}

/* Options of drawn people say nothing of others. */
static void hold_to(const struct fit_face_values *values, const struct people_crop *crop,
                    const struct dataset *dataset, struct fit_terms *terms)
{
    char text[DATASET_TEXT_MAX];
    dataset_describe(dataset, text, sizeof(text));
    fit_terms_init(terms, &COMMAND_FIT_FACE, values);
    if (!people_are_drawn(values->data)) {
        fit_terms_drop(terms, "persons");
        fit_terms_drop(terms, "pictures");
    }
    fit_terms_set(terms, "crop", face_crop_name(crop->crop));
    fit_terms_set(terms, "data", text);
}

static int train(const struct fit_face_values *values, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    _cleanup_(fit_watch_close) struct fit_watch watch = {0};
    _cleanup_(reducer_comm_close) struct reducer_comm several = {0};
    struct ty_tf_config *config = NULL;
    struct face_fit_options options;
    _cleanup_(people_crop_release) struct people_crop crop = {0};
    _cleanup_(fit_terms_release) struct fit_terms terms = {0};
    int result = fit_face_options_of(values, &options, err);
    if (result == 0)
        result = fit_cluster_read(&values->shared.cluster, &config, err);
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
    if (result == 0)
        hold_to(values, &crop, dataset, &terms);
    options.kept = terms.kept;
    if (result == 0 && values->epochs)
        result = face_fit_epochs_to_steps(&options, dataset, (uint64_t)values->epochs,
                                          &options.steps, err);
    if (result == 0)
        result = fit_watch_open(&values->shared.watch, &COMMAND_FIT_FACE, values, options.model_dir,
                                &options.log, &watch, err);
    if (result == 0 && !options.model_dir && ty_tf_config_is_chief(config))
        fit_say_not_kept();
    struct reducer alone = reducer_single(), *reducer = &alone;
    size_t workers = result == 0 ? tf_config_workers(config) : 0;
    if (workers > 1) {
        struct comm_options comm =
            fit_cluster_comm(&values->shared.cluster, config,
                             fit_terms_hash(&terms, face_fit_hash(&options, dataset)));
        comm.terms = fit_terms_text(&terms);
        comm.waiting = fit_watch_wait;
        comm.waited = fit_watch_waited;
        comm.context = watch.state;
        result = reducer_comm_open(&several, &comm, &fit_joining, err);
        reducer = &several.reducer;
    }
    struct face_fit_result done = {0};
    if (result == 0)
        result = face_fit(&options, dataset, reducer, &done, err);
    if (result == 0 && !done.stopped && reducer->rank == 0)
        report(&options, &done);
    bool stopped = done.stopped;
    if (result == 0 && !stopped)
        fit_watch_finish(&watch);
    face_fit_result_release(&done);
    ty_tf_config_free(config);
    return result == 0 && stopped ? fit_exit_stopped() : result;
}

static int run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    fit_begin();
    return train(values, err);
}

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
    .examples = "trainer fit face --data procedural --model-dir faces\n"
                "trainer fit face --data people --held-out 3 --model-dir family --log json",
    .options = FIT_FACE_OPTIONS,
    .values_size = sizeof(struct fit_face_values),
    .narrates = true,
    .run = run,
};

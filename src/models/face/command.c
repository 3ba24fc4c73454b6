/* Implements the face model's row in the table of models (FACE_MODEL): how `trainer fit face` reads
 * its options, opens its pictures, trains and reports the result. `trainer fit` calls these
 * functions; see train/run/model.h. */
#include "base/mem.h"
#include "models/face/fit.h"
#include "models/face/options.h"
#include "models/face/people.h"

#include <stdio.h>

/* One run of `trainer fit face`. */
struct face_run {
    struct model_run run;
    struct face_fit_options options;
    struct people_crop crop;
    struct dataset *dataset;
    struct face_fit_result result;
};

static struct face_run *face_run_of(struct model_run *run)
{
    return CONTAINER_OF(run, struct face_run, run);
}

static const struct face_run *face_run_of_const(const struct model_run *run)
{
    return CONTAINER_OF(run, const struct face_run, run);
}

static const struct face_values *face_run_values(const struct face_run *face)
{
    return CONTAINER_OF(face->run.values, const struct face_values, shared);
}

static int face_run_init(struct model_run *run, struct err *err)
{
    struct face_run *face = face_run_of(run);
    int result = face_options_read(face_run_values(face), &face->options, err);
    if (result == 0)
        run->batch = face->options.batch_persons * face->options.batch_pictures;
    return result;
}

/* Opens the training pictures. Generated pictures are not cropped. */
static int face_run_open_people(struct face_run *face, struct err *err)
{
    const struct face_values *values = face_run_values(face);
    enum face_crop crop = FACE_CROP_OFF;
    if (people_are_drawn(values->data))
        return dataset_open_procedural((uint64_t)values->shared.seed, (size_t)values->persons,
                                       (size_t)values->pictures, &face->dataset, err);
    int result = face_crop_from_name(values->crop, &crop, err);
    if (result == 0)
        result = people_crop_open(crop, &face->crop, err);
    if (result == 0)
        result = people_open_training(values->data, &face->crop, (int)values->shared.threads,
                                      &face->dataset, err);
    return result;
}

static int face_run_open(struct model_run *run, struct err *err)
{
    struct face_run *face = face_run_of(run);
    int64_t epochs = face_run_values(face)->epochs;
    int result = face_run_open_people(face, err);
    face->options.model.crop = face->crop.crop;
    if (result == 0 && epochs)
        result = face_fit_epochs_to_steps(&face->options, face->dataset, (uint64_t)epochs,
                                          &face->options.steps, err);
    return result;
}

static void face_run_terms(const struct model_run *run, struct fit_terms *terms)
{
    const struct face_run *face = face_run_of_const(run);
    char text[DATASET_TEXT_MAX];
    dataset_describe(face->dataset, text, sizeof(text));
    if (!people_are_drawn(
            face_run_values(face)->data)) { /* these two options affect only generated people */
        fit_terms_drop(terms, "persons");
        fit_terms_drop(terms, "pictures");
    }
    fit_terms_set(terms, "crop", face_crop_name(face->crop.crop));
    fit_terms_set(terms, "data", text);
}

static size_t face_run_numbers(const struct model_run *run, bool data,
                               uint64_t ret[MODEL_NUMBERS_MAX])
{
    (void)data; /* a face run always has its data */
    const struct face_run *face = face_run_of_const(run);
    return face_fit_numbers(&face->options, face->dataset, ret);
}

static int face_run_train(struct model_run *run, struct err *err)
{
    struct face_run *face = face_run_of(run);
    face->options.fit = run->fit;
    int result = face_fit(&face->options, face->dataset, run->reducer, &face->result, err);
    run->stopped = face->result.stopped;
    return result;
}

static bool face_run_report(const struct model_run *run, struct arena *arena, struct json *line,
                            struct buf *text)
{
    const struct face_run *face = face_run_of_const(run);
    const struct face_fit_result *result = &face->result;
    char path[4096] = "", sentence[512];
    if (!model_run_is_reporter(run))
        return false;
    if (run->fit.model_dir)
        face_fit_model_path(run->fit.model_dir, path, sizeof(path));
    json_set_int(arena, line, "steps", (int64_t)result->last);
    json_set(arena, line, "loss", json_real(arena, result->loss));
    if (path[0])
        json_set_string(arena, line, "model", path);
    if (result->evaluated) {
        json_set(arena, line, "heldOut", face_eval_to_json(arena, &result->eval));
        face_eval_sentence(&result->eval, sentence, sizeof(sentence));
        buf_printf(text, "held out: %s\n", sentence);
    }
    if (path[0])
        buf_printf(text, "model: %s\n", path);
    else
        buf_printf(text, "the model is not kept: --model-dir was not given\n");
    return true;
}

static void face_run_release(struct model_run *run)
{
    struct face_run *face = face_run_of(run);
    face_fit_result_release(&face->result);
    dataset_free(face->dataset);
    people_crop_release(&face->crop);
}

const struct model FACE_MODEL = {
    .command =
        {
            .name = "face",
            .summary = "train an embedding of faces",
            .description =
                "Trains a face embedding with the triplet loss. If TF_CONFIG names several workers "
                "they train synchronously, with the same result as one worker. The chief, or "
                "worker 0, shows the progress and writes checkpoints and the model to "
                "--model-dir.\n\nAt the end the model is evaluated on people who were held out, "
                "compared with raw pixels on the same pairs. SIGTERM ends the process with exit "
                "code 143. With --model-dir the run is saved first, unless other workers go on "
                "with it; the same command resumes or joins it.",
            .examples = "trainer fit face --data procedural --model-dir faces\n"
                        "trainer fit face --data people --held-out 3 --model-dir family --log json",
            .options = FACE_OPTIONS,
            .values_size = sizeof(struct face_values),
            .output_is_progress = true,
        },
    .unit = "images",
    .modes = MODEL_TRAINS_SYNCHRONOUSLY,
    .run_size = sizeof(struct face_run),
    .steps = &FACE_FIT_STEPS,
    .init = face_run_init,
    .open = face_run_open,
    .terms = face_run_terms,
    .numbers = face_run_numbers,
    .train = face_run_train,
    .report = face_run_report,
    .release = face_run_release,
};

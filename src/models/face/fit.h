/* Trains a face model: loads batches, runs the steps, writes checkpoints, resumes from them, and
 * evaluates the model on held-out people. `trainer fit face` calls face_fit() in every worker, with
 * the same options and the worker's own reducer. Rank 0 logs, evaluates and writes the files for
 * all workers. */
#ifndef TRAINYARD_MODELS_FACE_FIT_H
#define TRAINYARD_MODELS_FACE_FIT_H

#include "models/face/eval.h"
#include "models/face/trainer.h"
#include "train/data/augment.h"
#include "train/run/model.h"

struct face_fit_options {
    struct fit_options fit; /* options that every model has */
    struct face_config model;
    uint64_t steps; /* total number of steps, including the steps of a run that is resumed */
    /* People per batch of all workers together, and pictures per person. */
    size_t batch_persons, batch_pictures;
    size_t held_out; /* number of persons used for evaluation only; fewer than 2: no evaluation */
    struct triplet_config triplet;
    enum optimizer_kind optimizer;
    float weight_decay;
    enum schedule_kind schedule;
    float rate;       /* highest learning rate */
    uint64_t warm_up; /* steps during which the learning rate rises */
    struct augment augment;
    float blend;            /* fraction of the people of a batch that are blends (batch.h) */
    float reshape;          /* largest amplitude of the reshaping of blends (batch.h) */
    const char *start_from; /* path of a model with the initial values; NULL: random values */
};

#define FACE_FIT_DEFAULT                                                                           \
    ((struct face_fit_options){                                                                    \
        .fit = FIT_OPTIONS_DEFAULT,                                                                \
        .model = FACE_CONFIG_DEFAULT,                                                              \
        .steps = 400,                                                                              \
        .batch_persons = 24,                                                                       \
        .batch_pictures = 4,                                                                       \
        .held_out = 20,                                                                            \
        .triplet = {.mining = TRIPLET_SEMI_HARD, .margin = 0.4f},                                  \
        .optimizer = OPTIMIZER_ADAM,                                                               \
        .weight_decay = 1e-3f,                                                                     \
        .schedule = SCHEDULE_COSINE,                                                               \
        .rate = 3e-3f,                                                                             \
        .warm_up = 20,                                                                             \
        .augment = {.shift = 0.06f,                                                                \
                    .turn = 0.12f,                                                                 \
                    .scale = 0.1f,                                                                 \
                    .gamma = 0.4f,                                                                 \
                    .noise = 0.01f,                                                                \
                    .cover = 0.2f,                                                                 \
                    .mirror = true},                                                               \
    })

struct face_fit_result {
    uint64_t first, last; /* number of steps done before this run, and at its end */
    bool stopped;         /* stopped before the last step */
    double loss;          /* loss of the last step; 0 if this run had no step */
    /* Whether `eval` is set: true only on rank 0, at the end of a complete run with at least 2
     * held-out people. */
    bool evaluated;
    struct face_eval eval;
};

/* Sets the numbers that must be equal on all workers: the model's shape, every option that affects
 * the result, and the size of the data set. Returns how many numbers were set. */
size_t face_fit_numbers(const struct face_fit_options *options, const struct dataset *dataset,
                        uint64_t ret[MODEL_NUMBERS_MAX]);

/* Sets *ret to the number of steps in `epochs` epochs, or to 1 if that is less than one step. The
 * batches of an epoch have as many pictures as the training data. Batches are drawn by person, so a
 * picture may appear several times in an epoch, or not at all. Returns -ERR_INVALID if no training
 * person would be left. */
int face_fit_epochs_to_steps(const struct face_fit_options *options, const struct dataset *dataset,
                             uint64_t epochs, uint64_t *ret, struct err *err);

/* Trains to the last step, or until the run is stopped. The caller releases *ret with
 * face_fit_result_release(). *ret does not change on failure. */
int face_fit(const struct face_fit_options *options, const struct dataset *dataset,
             struct reducer *reducer, struct face_fit_result *ret, struct err *err);
void face_fit_result_release(struct face_fit_result *result); /* safe on zeroed memory */

extern const struct model FACE_MODEL;           /* for the table of models */
extern const struct model_steps FACE_FIT_STEPS; /* the operations of the training loop */

/* Writes the path of the final model: "DIR/face.model". */
void face_fit_model_path(const char *model_dir, char *path, size_t size);

#endif

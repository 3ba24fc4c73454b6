/* Trains a face model: batches from a data set, steps, checkpoints, progress, resume, and the
 * evaluation on people who were held out. Every worker calls it with the same options and its own
 * reducer; rank 0 logs and writes for all. */
#ifndef TRAINYARD_MODELS_FACE_FIT_H
#define TRAINYARD_MODELS_FACE_FIT_H

#include "models/face/eval.h"
#include "models/face/trainer.h"
#include "train/data/augment.h"
#include "train/run/model.h"

struct face_fit_options {
    struct fit_options fit; /* those of every model */
    struct face_config model;
    uint64_t steps; /* in all, including those of an earlier run that is resumed */
    size_t batch_persons, batch_pictures;
    size_t held_out; /* persons who are not trained on; 0: no evaluation at the end */
    struct triplet_config triplet;
    enum optimizer_kind optimizer;
    float weight_decay;
    enum schedule_kind schedule;
    float rate; /* highest learning rate */
    uint64_t warm_up;
    struct augment augment;
    float blend;            /* fraction of the people of a batch who are blends of two (batch.h) */
    float reshape;          /* largest reshaping of blends, as a fraction of the side */
    const char *start_from; /* model whose values this one starts with; NULL: random values */
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
    uint64_t first, last; /* steps done before this run, and now */
    bool stopped;         /* stopped before the last step */
    double loss;          /* of the last step */
    /* `eval` is set: on rank 0, at the end of a complete run with people held out */
    bool evaluated;
    struct face_eval eval;
};

/* The numbers that all workers must have in common: the model's shape and every option that decides
 * the course of the run. Returns how many. */
size_t face_fit_numbers(const struct face_fit_options *options, const struct dataset *dataset,
                        uint64_t ret[MODEL_NUMBERS_MAX]);

/* The number of steps in `epochs` epochs. An epoch shows as many pictures as there are to train on,
 * but not each of them once, since a batch is drawn by persons. */
int face_fit_epochs_to_steps(const struct face_fit_options *options, const struct dataset *dataset,
                             uint64_t epochs, uint64_t *ret, struct err *err);

/* Trains to the last step, or until it is stopped. The caller releases the result. `ret` is
 * untouched on failure. */
int face_fit(const struct face_fit_options *options, const struct dataset *dataset,
             struct reducer *reducer, struct face_fit_result *ret, struct err *err);
void face_fit_result_release(struct face_fit_result *result);

extern const struct model FACE_MODEL;           /* the row of this model */
extern const struct model_steps FACE_FIT_STEPS; /* its synchronous steps */

/* The path of the final model: "DIR/face.model". */
void face_fit_model_path(const char *model_dir, char *path, size_t size);

#endif

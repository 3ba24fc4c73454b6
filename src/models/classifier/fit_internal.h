/* The beginning and the end of a training run, for both modes of training a classifier. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H
#define TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H

#include "models/classifier/fit.h"
#include "models/classifier/trainer.h"

struct classifier_fit {
    const struct classifier_fit_options *options;
    /* training pictures, if this run has read them; NULL: the caller passed them */
    struct idx *own;
    struct idx *test; /* test pictures, in processes that may evaluate the model */
    const struct idx *train;
    int claim; /* file descriptor that locks the model directory; -1: none */
    struct classifier_model *model;
    struct classifier_trainer *trainer;
    struct schedule schedule;
    struct reducer *reducer; /* NULL with parameter servers */
    struct optimizer *optimizer;
    struct run_log *log;
};

/* Opens data, model and trainer, and sets the parameters from the seed. `evaluates`: also opens the
 * test pictures, so that missing or invalid test pictures are found before the first step. */
int classifier_fit_start(struct classifier_fit *fit, int rank, int size, bool evaluates,
                         struct err *err);
void classifier_fit_release(struct classifier_fit *fit); /* safe on zeroed memory */

/* Writes "cnn classifier: 3274634 parameters, …". */
void classifier_fit_sentence(const struct classifier_fit *fit, size_t workers, size_t servers,
                             char *text, size_t size);

/* Evaluates the final model, writes its file and exports a version. Called on the chief. */
int classifier_fit_conclude(struct classifier_fit *fit, struct classifier_fit_result *outcome,
                            struct err *err);

/* Returns -ERR_INVALID if the loss is not a number or very large. */
int classifier_fit_check_loss(double loss, struct err *err);

#endif

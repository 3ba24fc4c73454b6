/* The state of one training run of a classifier, and the functions that both modes of training
 * share: the beginning and the end of a run. Included by fit.c and fit_async.c. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H
#define TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H

#include "models/classifier/fit.h"
#include "models/classifier/trainer.h"

struct classifier_fit {
    const struct classifier_fit_options *options;
    /* the training pictures that this run has read; NULL if the options provide them */
    struct idx *train_owned;
    /* test pictures; NULL in a process of a run with parameter servers that is not the chief */
    struct idx *test;
    const struct idx *train; /* the training pictures, `train_owned` or those of the options */
    int claim;               /* file descriptor that locks the model directory; -1: none */
    struct classifier_model *model;
    struct classifier_trainer *trainer;
    struct schedule schedule;
    struct reducer *reducer; /* NULL with parameter servers */
    struct optimizer *optimizer;
    struct run_log *log;
};

/* Checks the options, reads the data, creates the model, the log and the trainer for share `rank`
 * of `size` shares, and sets the parameters from the seed. `evaluates`: also opens the test
 * pictures, so that missing or invalid test pictures are found before the first step. The caller
 * sets `options`, `reducer` and `claim` before, and calls classifier_fit_release() afterwards,
 * after a failure, too. */
int classifier_fit_start(struct classifier_fit *fit, int rank, int size, bool evaluates,
                         struct err *err);
/* Frees everything except *fit itself and the reducer. `claim` must be -1 if nothing was locked: on
 * zeroed memory this function would close file descriptor 0. */
void classifier_fit_release(struct classifier_fit *fit);

/* Writes "cnn classifier: 3274634 parameters, …". */
void classifier_fit_sentence(const struct classifier_fit *fit, size_t workers, size_t servers,
                             char *text, size_t size);

/* Evaluates the final model, writes the model file if there is a model directory, and exports a
 * version if there is an export directory. Called in the one process that writes files for the
 * run. */
int classifier_fit_conclude(struct classifier_fit *fit, struct classifier_fit_result *outcome,
                            struct err *err);

/* Returns 0, or -ERR_INVALID if the mean loss is at least SOFTMAX_LOSS_MAX / 2, because then many
 * samples have a loss that is NaN or infinite (struct softmax_result). */
int classifier_fit_check_loss(double loss, struct err *err);

#endif

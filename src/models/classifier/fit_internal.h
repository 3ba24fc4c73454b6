/* What both ways of training a classifier share: beginning and end. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H
#define TRAINYARD_MODELS_CLASSIFIER_FIT_INTERNAL_H

#include "models/classifier/fit.h"
#include "models/classifier/trainer.h"

struct classifier_fit {
    const struct classifier_fit_options *options;
    struct idx *own;  /* read by this run */
    struct idx *test; /* by whoever may come to judge the model */
    const struct idx *train;
    int claim; /* on the model directory; -1: none */
    struct classifier_model *model;
    struct classifier_trainer *trainer;
    struct schedule schedule;
    struct reducer *reducer; /* in step only */
    struct optimizer *optimizer;
    struct run_log *log;
};

/* Data, model and trainer; values are set from the seed. Where `evaluates`, the test pictures, too:
 * that they are missing or do not fit is known now, not after the last step. */
int classifier_fit_start(struct classifier_fit *fit, int rank, int size, bool evaluates,
                         struct err *err);
void classifier_fit_release(struct classifier_fit *fit); /* safe on zeroed memory */

/* "cnn classifier: 3274634 parameters, …" */
void classifier_fit_sentence(const struct classifier_fit *fit, size_t workers, size_t servers,
                             char *text, size_t size);

/* The chief, with the final values: judgement, model file, exported version. */
int classifier_fit_conclude(struct classifier_fit *fit, struct classifier_fit_result *outcome,
                            struct err *err);

/* A loss that is no number any more is ERR_INVALID. */
int classifier_fit_check_loss(double loss, struct err *err);

#endif

/* One worker's part of training a classifier: its share of the batch, the passes, the loss and the
 * gradient. Both modes of training use it (fit.c and fit_async.c). The caller decides whether the
 * gradient is summed with the gradients of other workers or pushed to parameter servers. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_TRAINER_H
#define TRAINYARD_MODELS_CLASSIFIER_TRAINER_H

#include "models/classifier/model.h"
#include "train/data/idx.h"
#include "train/network/loss_softmax.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

enum { CLASSIFIER_BATCH_MAX = 4096 };

struct classifier_trainer_options {
    uint64_t seed;
    int batch;      /* pictures per step, of all shares */
    int rank, size; /* the trainer computes share `rank` of `size` shares of the batch */
    int threads;
    struct reducer *reducer; /* sums the gradients of the workers; NULL: no sum */
    /* Number of threads that prepare batches in advance; 0: none. Useful only if the trainer
     * computes the steps in order. */
    int loaders;
};

struct classifier_trainer;

/* The pictures of `data` must have the size that the model takes, and the labels must be below its
 * number of classes. `model` and `data` must outlive the trainer. Returns -ERR_INVALID if the batch
 * is smaller than the number of shares or larger than CLASSIFIER_BATCH_MAX. The caller frees
 * *ret. */
int classifier_trainer_new(const struct classifier_trainer_options *options,
                           struct classifier_model *model, const struct idx *data,
                           struct classifier_trainer **ret, struct err *err);
/* NULL-safe; returns NULL. */
struct classifier_trainer *classifier_trainer_free(struct classifier_trainer *trainer);
DEFINE_CLEANUP(classifier_trainer)

/* Sets the gradients of the parameters to this share's part of the gradient of the mean loss.
 * `step` counts from 1 and decides which pictures are shown and which values dropout removes. *ret
 * has the loss and the number of correct predictions of this share only. */
int classifier_trainer_gradient(struct classifier_trainer *trainer, uint64_t step,
                                struct softmax_result *ret, struct err *err);

/* Sums the gradients, and the PARAMS_TAIL floats that follow them in memory, over all workers. */
int classifier_trainer_reduce(struct classifier_trainer *trainer, struct err *err);

/* These functions call team_learn(), team_update() and team_learned(). */
void classifier_trainer_learn(struct classifier_trainer *trainer);
void classifier_trainer_update(struct classifier_trainer *trainer, struct optimizer *optimizer,
                               float clip, uint64_t step, float rate);
float *classifier_trainer_learned(struct classifier_trainer *trainer, size_t *ret_count);

/* Makes the trainer compute share `rank` of `size` shares of every later batch. Returns
 * -ERR_INVALID if the batch is smaller than the number of shares. */
int classifier_trainer_regroup(struct classifier_trainer *trainer, int rank, int size,
                               struct err *err);

#endif

/* One worker's part of training a classifier: its share of a step's batch, the passes, the loss and
 * the gradient of it. What becomes of the gradient, whether it is summed with those of the others
 * or pushed to a server, is the caller's. */
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
    int batch;      /* pictures of a step */
    int rank, size; /* which share of them; 0 of 1: all */
    int threads;
    struct reducer *reducer; /* NULL: the gradients are not summed with others */
    int loaders; /* threads that make batches ahead, where steps come in order; 0: none */
};

struct classifier_trainer;

/* The model and the data must outlive the trainer, and fit each other. A batch smaller than the
 * number of shares is refused. */
int classifier_trainer_new(const struct classifier_trainer_options *options,
                           struct classifier_model *model, const struct idx *data,
                           struct classifier_trainer **ret, struct err *err);
struct classifier_trainer *classifier_trainer_free(struct classifier_trainer *trainer);
DEFINE_CLEANUP(classifier_trainer)

/* Sets the gradients of the model's parameters to this share's part of the gradient of the batch's
 * mean loss. `step` counts from 1 and decides which pictures are shown and which values are
 * dropped; the result is that of this share. */
int classifier_trainer_gradient(struct classifier_trainer *trainer, uint64_t step,
                                struct softmax_result *ret, struct err *err);

/* Sums them, and the tail behind them, over all workers. */
int classifier_trainer_reduce(struct classifier_trainer *trainer, struct err *err);

/* See team_learn(), team_update() and team_learned(). */
void classifier_trainer_learn(struct classifier_trainer *trainer);
void classifier_trainer_update(struct classifier_trainer *trainer, struct optimizer *optimizer,
                               float clip, uint64_t step, float rate);
float *classifier_trainer_learned(struct classifier_trainer *trainer, size_t *ret_count);

/* Another share from now on. */
int classifier_trainer_regroup(struct classifier_trainer *trainer, int rank, int size,
                               struct err *err);

#endif

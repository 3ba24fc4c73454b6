/* The state of one training run of a recommender, and the functions that both modes of training
 * share: one batch, and the end of a run. Included by fit.c (with servers) and fit_alone.c (one
 * process). */
#ifndef TRAINYARD_MODELS_RECOMMENDER_FIT_INTERNAL_H
#define TRAINYARD_MODELS_RECOMMENDER_FIT_INTERNAL_H

#include "models/recommender/fit.h"

/* The part of one process in a training run. */
struct recommender_run {
    const struct recommender_fit_options *options;
    const struct ratings *ratings;
    const struct recommender_fit_cluster *cluster;
    int claim; /* file descriptor that locks the model directory; -1: none */
    struct recommender_batch *batch;
    int table; /* number of the embedding table in the client */
    struct ratings_split split;
    size_t *order;          /* positions of the training ratings, in the order of one epoch */
    uint64_t epoch;         /* the epoch of `order`; UINT64_MAX: none yet */
    uint64_t epoch_batches; /* number of batches in an epoch */
    uint64_t steps;         /* number of batches in all epochs */
    uint64_t shown;         /* with servers: number of the batch that was logged last; 0: none */
    /* The row ids, ratings, rows, and gradients of the rows of the current batch. */
    int64_t *ids;
    float *batch_ratings, *rows, *d_rows;
    struct run_log *log;
};

/* Pulls the variables for batch `step`, counted from 0, computes their gradients and pushes the
 * gradients. */
int recommender_run_batch(struct recommender_run *run, uint64_t step, double *ret_loss,
                          struct err *err);

/* Writes "recommender deepfm: 610 users and …". */
enum { RECOMMENDER_SENTENCE_MAX = 512 };
void recommender_run_sentence(const struct recommender_run *run, char *text, size_t size);

/* Evaluates the model if there are test ratings, and writes the model file if there is a model
 * directory. Called in the one process that writes files for the run. */
int recommender_run_conclude(struct recommender_run *run, struct recommender_fit_result *outcome,
                             struct err *err);

/* Trains in one process without servers, from the newest checkpoint to the final model. */
int recommender_run_alone(struct recommender_run *run, struct recommender_fit_result *outcome,
                          struct err *err);

#endif

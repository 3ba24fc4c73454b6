/* What both ways of training a recommender share: a batch, and the end. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_FIT_INTERNAL_H
#define TRAINYARD_MODELS_RECOMMENDER_FIT_INTERNAL_H

#include "models/recommender/fit.h"

/* What lives as long as one run. */
struct recommender_run {
    const struct recommender_fit_options *options;
    const struct ratings *ratings;
    const struct recommender_fit_cluster *cluster;
    int claim; /* on the model directory; -1: none */
    struct recommender_batch *batch;
    int table;
    struct ratings_split split;
    size_t *order;     /* positions of the training ratings in the order of an epoch */
    uint64_t epoch;    /* of `order`; UINT64_MAX: none yet */
    uint64_t in_epoch; /* batches */
    uint64_t steps;    /* batches of all epochs */
    uint64_t shown;    /* the last batch that was told */
    int64_t *ids;      /* of one batch, and below: */
    float *truth, *rows, *d_rows;
    struct run_log *log;
};

/* Batch `step`, from 0: pull, compute, push. */
int recommender_run_batch(struct recommender_run *run, uint64_t step, double *ret_loss,
                          struct err *err);

/* "recommender deepfm: 610 users and …" */
enum { RECOMMENDER_SENTENCE_MAX = 512 };
void recommender_run_sentence(const struct recommender_run *run, char *text, size_t size);

/* The chief: the judgement, and the model with it. */
int recommender_run_conclude(struct recommender_run *run, struct recommender_fit_result *outcome,
                             struct err *err);

/* One process without servers, from the newest checkpoint to the model. */
int recommender_run_alone(struct recommender_run *run, struct recommender_fit_result *outcome,
                          struct err *err);

#endif

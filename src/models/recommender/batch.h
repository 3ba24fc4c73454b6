/* Computes one batch of the recommender: scores, loss, and the gradients of the dense parameters
 * and of the embedding rows. The caller provides the rows and parameters. In training they come
 * from parameter servers, in a loaded model from its file. One thread at a time may use a batch. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_BATCH_H
#define TRAINYARD_MODELS_RECOMMENDER_BATCH_H

#include "models/recommender/recommender.h"

enum { RECOMMENDER_BATCH_MAX = 65536 };

struct recommender_batch;

int recommender_batch_new(const struct recommender_config *config, int capacity,
                          struct recommender_batch **ret, struct err *err);
struct recommender_batch *recommender_batch_free(struct recommender_batch *batch);
DEFINE_CLEANUP(recommender_batch)

int recommender_batch_capacity(const struct recommender_batch *batch);

/* The dense parameters. After a change of their values call recommender_batch_changed(). */
struct params *recommender_batch_params(struct recommender_batch *batch);
void recommender_batch_changed(struct recommender_batch *batch);

/* Sets the initial values from the seed. The bias of the output is set such that the model first
 * predicts `mean`, which is the mean rating or the fraction of ratings that count as liked. So the
 * first steps need not learn the mean. */
void recommender_batch_initialise(struct recommender_batch *batch, uint64_t seed, double mean);

/* rows[n][2][row]: the rows of the user and the item of each sample. A score is the predicted
 * rating, or the logarithm of the odds that the user likes the item. */
void recommender_batch_predict(struct recommender_batch *batch, const float *rows, int n,
                               float *ret_scores);

/* Returns the mean loss of the samples with these ratings. Sets ret_d_rows, which has the layout of
 * `rows`, and params->gradients to the gradients of this loss. */
double recommender_batch_learn(struct recommender_batch *batch, const float *rows,
                               const float *ratings, int n, float *ret_d_rows);

/* Returns the loss of one score. Sets *ret_d_score to the derivative of the loss. */
double recommender_loss(enum recommender_label label, float score, float rating,
                        float *ret_d_score);

#endif

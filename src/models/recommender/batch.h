/* Computes one batch of the recommender: scores, loss, and the gradients of the dense parameters
 * and of the embedding rows. The caller provides the rows: training pulls them from a ps_client,
 * and a loaded model reads them from its file. One thread at a time may use a batch. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_BATCH_H
#define TRAINYARD_MODELS_RECOMMENDER_BATCH_H

#include "models/recommender/recommender.h"

enum { RECOMMENDER_BATCH_MAX = 65536 };

struct recommender_batch;

/* `capacity` is the largest number of samples of a call, from 1 to RECOMMENDER_BATCH_MAX; otherwise
 * returns -ERR_INVALID. The caller frees *ret. */
int recommender_batch_new(const struct recommender_config *config, int capacity,
                          struct recommender_batch **ret, struct err *err);
struct recommender_batch *recommender_batch_free(struct recommender_batch *batch);
DEFINE_CLEANUP(recommender_batch)

int recommender_batch_capacity(const struct recommender_batch *batch);

/* Returns the dense parameters, which the batch owns. recommender_batch_changed() must be called
 * after every change of their values. */
struct params *recommender_batch_params(struct recommender_batch *batch);
void recommender_batch_changed(struct recommender_batch *batch);

/* Sets the initial values of the dense parameters from the seed. The bias of the output is set such
 * that the model first predicts about `mean`, which is the mean rating or the fraction of ratings
 * that count as liked. So the first steps need not learn the mean. */
void recommender_batch_initialise(struct recommender_batch *batch, uint64_t seed, double mean);

/* Sets the scores of n samples; n must be at most the capacity. rows[n][2][row] has the row of the
 * user and the row of the item of each sample. A score is the predicted rating, or the logarithm of
 * the odds that the user likes the item. */
void recommender_batch_predict(struct recommender_batch *batch, const float *rows, int n,
                               float *ret_scores);

/* Returns the mean loss of the samples with these ratings. Sets ret_d_rows, which has the layout of
 * `rows`, and params->gradients to the gradients of this loss. Does not change the parameters. */
double recommender_batch_gradients(struct recommender_batch *batch, const float *rows,
                                   const float *ratings, int n, float *ret_d_rows);

/* Returns the loss of one score. Sets *ret_d_score to the derivative of the loss. */
double recommender_loss(enum recommender_label label, float score, float rating,
                        float *ret_d_score);

#endif

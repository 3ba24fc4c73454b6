/* One batch of the recommender, computed: scores, loss, and the gradients of the dense parameters
 * and of the embedding rows. It knows nothing of where the rows and parameters live; training
 * brings them from parameter servers, a loaded model from its file. One owner at a time. */
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

/* The dense part; after a change of its values call recommender_batch_changed(). */
struct params *recommender_batch_params(struct recommender_batch *batch);
void recommender_batch_changed(struct recommender_batch *batch);

/* First values from the seed. The output starts at `mean`, the mean rating or the part that is
 * liked, which saves the first steps from learning nothing else. */
void recommender_batch_initialise(struct recommender_batch *batch, uint64_t seed, double mean);

/* rows[n][2][row]: of the user and of the item of each sample. A score is the rating, or the
 * logarithm of the odds that it is liked. */
void recommender_batch_predict(struct recommender_batch *batch, const float *rows, int n,
                               float *ret_scores);

/* The mean loss of the samples whose ratings are given, and its gradients: d_rows is set like rows,
 * params->gradients is set. */
double recommender_batch_learn(struct recommender_batch *batch, const float *rows,
                               const float *ratings, int n, float *ret_d_rows);

/* The loss of one score, and its derivative. */
double recommender_loss(enum recommender_label label, float score, float rating,
                        float *ret_d_score);

#endif

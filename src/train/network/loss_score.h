/* Losses for models with one output per sample, the score: the squared error, and the cross-entropy
 * of a binary label, for which the score is the logarithm of the odds. Called for each sample by
 * the training and the evaluation of the recommender. */
#ifndef TRAINYARD_TRAIN_NETWORK_LOSS_SCORE_H
#define TRAINYARD_TRAIN_NETWORK_LOSS_SCORE_H

/* Returns (score − truth)². Sets *ret_d_score to the derivative with respect to the score. */
double loss_mse(float score, float truth, float *ret_d_score);

/* Returns the cross-entropy between `truth`, a probability from 0 to 1, and p = 1 / (1 + e^−score).
 * Sets *ret_d_score to the derivative with respect to the score. Both results are finite for
 * every finite score. */
double loss_sigmoid(float score, float truth, float *ret_d_score);

#endif

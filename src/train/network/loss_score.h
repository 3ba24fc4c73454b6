/* Losses on one number per sample: the squared error, and the cross-entropy of a binary label whose
 * score is the logarithm of its odds. Every sample is independent. The training and the evaluation
 * of the recommender call it. */
#ifndef TRAINYARD_TRAIN_NETWORK_LOSS_SCORE_H
#define TRAINYARD_TRAIN_NETWORK_LOSS_SCORE_H

/* Returns (score − truth)², and its derivative with respect to the score. */
double loss_mse(float score, float truth, float *ret_d_score);

/* Returns the cross-entropy between `truth`, a probability from 0 to 1, and p = 1 / (1 + e^−score),
 * and its derivative with respect to the score. Never overflows. */
double loss_sigmoid(float score, float truth, float *ret_d_score);

#endif

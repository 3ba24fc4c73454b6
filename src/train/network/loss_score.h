/* Losses on one number a sample: the squared error, and the cross-entropy of a yes or no whose
 * score is the logarithm of its odds. Each sample counts for itself. Called by the recommender, and
 * by whoever judges it. */
#ifndef TRAINYARD_TRAIN_LOSS_SCORE_H
#define TRAINYARD_TRAIN_LOSS_SCORE_H

/* (score − truth)², and its derivative by the score. */
double loss_mse(float score, float truth, float *ret_d_score);

/* −log p of the truth, a probability from 0 to 1, with p = 1 / (1 + e^−score). Never overflows. */
double loss_sigmoid(float score, float truth, float *ret_d_score);

#endif

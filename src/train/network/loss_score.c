/* Implements the losses for models with one output per sample; see loss_score.h. */
#include "train/network/loss_score.h"

#include <math.h>

double loss_mse(float score, float truth, float *ret_d_score)
{
    float difference = score - truth;
    *ret_d_score = 2 * difference;
    return (double)difference * (double)difference;
}

double loss_sigmoid(float score, float truth, float *ret_d_score)
{
    double z = (double)score;
    *ret_d_score = (float)(1 / (1 + exp(-z)) - (double)truth);
    return fmax(z, 0) - z * (double)truth + log1p(exp(-fabs(z)));
}

/* Implements softmax and its cross-entropy; see loss_softmax.h. */
#include "train/network/loss_softmax.h"

#include <math.h>

static float largest_of(const float *logits, int classes)
{
    float largest = logits[0];
    for (int c = 1; c < classes; c++)
        largest = logits[c] > largest ? logits[c] : largest;
    return largest;
}

/* Returns the sum of e^(logit − largest). Subtracting the largest logit prevents an overflow, and
 * makes the sum at least 1. */
static double exponential_sum(const float *logits, int classes, float largest)
{
    double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += exp((double)(logits[c] - largest));
    return sum;
}

void loss_softmax_probabilities(const float *logits, size_t n, int classes, float *probabilities)
{
    for (size_t i = 0; i < n; i++, logits += classes, probabilities += classes) {
        float largest = largest_of(logits, classes);
        double sum = 0;
        for (int c = 0; c < classes; c++) {
            probabilities[c] = expf(logits[c] - largest);
            sum += (double)probabilities[c];
        }
        for (int c = 0; c < classes; c++)
            probabilities[c] = (float)((double)probabilities[c] / sum);
    }
}

struct softmax_result loss_softmax(const float *logits, const uint8_t *labels, size_t n,
                                   int classes, float scale, float *d_logits)
{
    struct softmax_result result = {0};
    for (size_t i = 0; i < n; i++, logits += classes, d_logits += classes) {
        float largest = largest_of(logits, classes);
        double sum = exponential_sum(logits, classes, largest);
        double loss = log(sum) - (double)(logits[labels[i]] - largest);
        if (!(loss < SOFTMAX_LOSS_MAX))
            loss = SOFTMAX_LOSS_MAX;
        result.loss += llround(loss * SOFTMAX_UNITS);
        result.right += logits[labels[i]] == largest;
        for (int c = 0; c < classes; c++) {
            double probability = exp((double)(logits[c] - largest)) / sum;
            d_logits[c] = (float)((probability - (c == labels[i])) * (double)scale);
        }
    }
    return result;
}

/* Computes probabilities from the outputs (logits) of a classifier, and the cross-entropy loss.
 * Samples are independent, so a worker needs only its share of the batch. The training of a
 * classifier computes the loss once per step. Prediction computes the probabilities. */
#ifndef TRAINYARD_TRAIN_NETWORK_LOSS_SOFTMAX_H
#define TRAINYARD_TRAIN_NETWORK_LOSS_SOFTMAX_H

#include <stddef.h>
#include <stdint.h>

/* Sets probabilities[n][classes] from logits[n][classes]. The values of each row are from 0 to 1,
 * and their sum is 1. */
void loss_softmax_probabilities(const float *logits, size_t n, int classes, float *probabilities);

struct softmax_result {
    /* Sum of −log p(label) over the samples, in units of 1 / SOFTMAX_UNITS. It is an integer, so
     * that the sum over the workers does not depend on how the batch is shared. If the loss of a
     * sample is NaN or larger than SOFTMAX_LOSS_MAX, the sample counts as SOFTMAX_LOSS_MAX. */
    int64_t loss;
    size_t right; /* number of samples for which no class is more probable than the label */
};

enum { SOFTMAX_UNITS = 1 << 20, SOFTMAX_LOSS_MAX = 1000 };

/* Sets d_logits to the gradient of `scale` times the sum of the losses. With a scale of 1 /
 * (samples of the whole batch), all workers together compute the gradient of the mean loss. Labels
 * must be below `classes`. */
struct softmax_result loss_softmax(const float *logits, const uint8_t *labels, size_t n,
                                   int classes, float scale, float *d_logits);

#endif

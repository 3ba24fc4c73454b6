/* The triplet loss on embeddings of length 1: a picture must lie nearer to the pictures of the same
 * person than to those of anybody else, by a margin. Triplets are mined over the whole (global)
 * batch, which every worker has gathered: all compute the same loss and take their part of the
 * gradient. Called once a step, by the training loop of a model. */
#ifndef TRAINYARD_TRAIN_LOSS_TRIPLET_H
#define TRAINYARD_TRAIN_LOSS_TRIPLET_H

#include <stddef.h>

enum triplet_mining {
    /* Each pair of one person with the nearest stranger who is farther away than that pair, or with
     * the farthest stranger where all are nearer. */
    TRIPLET_SEMI_HARD,
    /* Each picture with the farthest of its person and the nearest stranger, in plain distance: the
     * hardest triplets with squared distances pull everything into one point, where their gradient
     * vanishes. */
    TRIPLET_BATCH_HARD,
};

struct triplet_config {
    enum triplet_mining mining;
    float margin; /* in squared distance (at most 4), with batch-hard in distance (at most 2) */
};

struct triplet_result {
    double loss;     /* mean over the triplets */
    size_t triplets; /* mined */
    size_t active;   /* that violate the margin and so have a gradient */
};

enum { TRIPLET_BATCH_MAX = 4096 };

/* embeddings[n][dim]; labels are equal for pictures of one person. d_embeddings is set to the
 * gradient of the mean loss. A batch without two pictures of a person or without two persons has
 * no triplets, loss 0 and gradient 0. */
struct triplet_result loss_triplet(const struct triplet_config *config, const float *embeddings,
                                   const int *labels, int n, int dim, float *d_embeddings);

#endif

/* The triplet loss on embeddings of length 1. It is 0 if each picture (the anchor) is nearer, by a
 * margin, to the pictures of the same person (positives) than to the pictures of any other person
 * (negatives). Every worker passes the embeddings of the global batch, so all workers compute the
 * same loss. Then each worker uses its part of the gradient. The training of the face model calls
 * loss_triplet() once per step. */
#ifndef TRAINYARD_TRAIN_NETWORK_LOSS_TRIPLET_H
#define TRAINYARD_TRAIN_NETWORK_LOSS_TRIPLET_H

#include <stddef.h>

enum triplet_mining {
    /* One triplet per ordered pair (anchor, positive) of pictures of one person. The negative is
     * the nearest picture of another person that is farther away than the positive. If there is no
     * such picture, the negative is the farthest picture of another person. */
    TRIPLET_SEMI_HARD,
    /* One triplet per picture, with the farthest picture of the same person and the nearest picture
     * of another person. Distances are not squared here: with squared distances the hardest
     * triplets would pull all embeddings into one point, where the gradient vanishes. */
    TRIPLET_BATCH_HARD,
};

struct triplet_config {
    enum triplet_mining mining;
    /* semi-hard: a difference of squared distances; batch-hard: a difference of distances */
    float margin;
};

struct triplet_result {
    double loss;     /* mean over the triplets */
    size_t triplets; /* number of mined triplets */
    size_t active;   /* number of triplets that violate the margin and so have a gradient */
};

/* largest `n` that callers may pass, because the memory grows with its square */
enum { TRIPLET_BATCH_MAX = 4096 };

/* Takes embeddings[n][dim] and labels[n]. Pictures of one person have the same label. Sets
 * d_embeddings to the gradient of the mean loss. A batch without two pictures of one person, or
 * without two persons, has no triplets, loss 0 and gradient 0. */
struct triplet_result loss_triplet(const struct triplet_config *config, const float *embeddings,
                                   const int *labels, int n, int dim, float *d_embeddings);

#endif

/* The triplet loss on embeddings of length 1: a picture must be nearer to the pictures of the same
 * person than to those of any other person, by a margin. Triplets are mined over the global batch,
 * whose embeddings every worker has gathered. All workers compute the same loss, and each takes its
 * part of the gradient. Called once per step. */
#ifndef TRAINYARD_TRAIN_NETWORK_LOSS_TRIPLET_H
#define TRAINYARD_TRAIN_NETWORK_LOSS_TRIPLET_H

#include <stddef.h>

enum triplet_mining {
    /* Each pair of one person, with the nearest picture of another person that is farther away than
     * the pair, or with the farthest if all are nearer. */
    TRIPLET_SEMI_HARD,
    /* Each picture, with the farthest picture of the same person and the nearest of another, in
     * plain distance: with squared distances the hardest triplets pull all embeddings into one
     * point, where their gradient vanishes. */
    TRIPLET_BATCH_HARD,
};

struct triplet_config {
    enum triplet_mining mining;
    float margin; /* in squared distance, at most 4; for batch-hard in distance, at most 2 */
};

struct triplet_result {
    double loss;     /* mean over the triplets */
    size_t triplets; /* mined triplets */
    size_t active;   /* triplets that violate the margin and therefore have a gradient */
};

enum { TRIPLET_BATCH_MAX = 4096 };

/* embeddings[n][dim]; labels are equal for pictures of one person. Sets d_embeddings to the
 * gradient of the mean loss. A batch without two pictures of one person, or without two persons,
 * has no triplets, loss 0 and gradient 0. */
struct triplet_result loss_triplet(const struct triplet_config *config, const float *embeddings,
                                   const int *labels, int n, int dim, float *d_embeddings);

#endif

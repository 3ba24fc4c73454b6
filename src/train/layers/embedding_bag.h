/* A layer that converts bags of ids (words of a text, films of a user) to vectors. It is used in
 * front of a network, which takes only vectors. The output of this layer is the input of
 * network_forward(), and the d_input of network_backward_to_input() is the d_out of
 * embedding_bag_pull(). The table is not one of the network's parameters, because all of those are
 * summed at every step, and a step changes only a few rows of the table.
 *
 * An ONNX file has only the layers of the network, so it does not have this layer. */
#ifndef TRAINYARD_TRAIN_LAYERS_EMBEDDING_BAG_H
#define TRAINYARD_TRAIN_LAYERS_EMBEDDING_BAG_H

#include "base/cleanup.h"
#include "base/err.h"
#include "train/kernels/embedding_bag.h"

struct embedding_bag {
    size_t rows;
    int width;
    float *table;  /* rows × width */
    float *square; /* sums of squared gradients, for Adagrad */
    /* The gradient of the last backward pass. It has `touched` rows, with memory for `room`
     * rows. */
    size_t touched, room;
    int64_t *ids; /* ids of the touched rows, ascending */
    float *gradient;
    struct embedding_bag_place *scratch;
};

/* The initial values of a row depend only on the seed and the number of the row. The caller frees
 * the result. */
struct embedding_bag *embedding_bag_new(size_t rows, int width, uint64_t seed);
struct embedding_bag *embedding_bag_free(struct embedding_bag *bag); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(embedding_bag)

/* Checks an untrusted batch: offsets must begin with 0 and never fall, every id must have a row,
 * and a mean must have no weights. */
int embedding_bag_check(const struct embedding_bag *bag, const struct embedding_bags *bags,
                        struct err *err);

/* Runs the backward pass: sets touched, ids and gradient. */
void embedding_bag_pull(struct embedding_bag *bag, const struct embedding_bags *bags,
                        const float *d_out);
/* Updates the touched rows with Adagrad. */
void embedding_bag_step(struct embedding_bag *bag, float rate);

#endif

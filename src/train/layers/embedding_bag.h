/* The layer that turns bags of ids (words of a text, films of a user) into vectors. It stands in
 * front of a network, which takes only vectors: its output is the input of network_forward(), and
 * the result of network_backward_to_input() is the input of its backward pass. The table is not
 * among the parameters of the network: those are summed completely at every step, and a step
 * touches only a few rows of a table.
 *
 * An ONNX file does not contain it, since it holds only the layers of the network. */
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
    /* The gradient of the last backward pass: `touched` rows. */
    size_t touched, room;
    int64_t *ids; /* ascending */
    float *gradient;
    struct embedding_bag_place *scratch;
};

/* The initial values depend on the seed and the row: a table with more rows begins with the same
 * values. */
struct embedding_bag *embedding_bag_new(size_t rows, int width, uint64_t seed);
struct embedding_bag *embedding_bag_free(struct embedding_bag *bag); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(embedding_bag)

/* Checks a batch from outside: offsets must ascend from 0, and every id must have a row. */
int embedding_bag_check(const struct embedding_bag *bag, const struct embedding_bags *bags,
                        struct err *err);

/* The backward pass: sets touched, ids and gradient. */
void embedding_bag_pull(struct embedding_bag *bag, const struct embedding_bags *bags,
                        const float *d_out);
/* Updates the touched rows with Adagrad. */
void embedding_bag_step(struct embedding_bag *bag, float rate);

#endif

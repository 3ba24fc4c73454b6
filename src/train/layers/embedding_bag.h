/* The layer that makes vectors of bags of ids (words of a text, films of a user). It stands before
 * a network, which takes vectors only: its output is the input of network_forward(), and what
 * network_backward_to_input() gives is its way back. The table is not among the parameters of the
 * network: those are summed whole at every step, and of a table a step touches a few rows.
 *
 * It is no part of an ONNX file, which holds what is in the network. */
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
    /* The gradient of the last way back. */
    size_t touched, room;
    int64_t *ids; /* ascending */
    float *gradient;
    struct embedding_bag_place *scratch;
};

/* First values are keyed by the seed and the row: a table with more rows begins with the same. */
struct embedding_bag *embedding_bag_new(size_t rows, int width, uint64_t seed);
struct embedding_bag *embedding_bag_free(struct embedding_bag *bag); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(embedding_bag)

/* Once for each batch that comes from outside: offsets rise from 0, and every id has a row. */
int embedding_bag_check(const struct embedding_bag *bag, const struct embedding_bags *bags,
                        struct err *err);

/* The way back fills touched, ids and gradient; the step changes these rows by Adagrad. */
void embedding_bag_pull(struct embedding_bag *bag, const struct embedding_bags *bags,
                        const float *d_out);
void embedding_bag_step(struct embedding_bag *bag, float rate);

#endif

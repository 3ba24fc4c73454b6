/* A layer that converts bags of ids (words of a text, films of a user) to vectors. It precedes a
 * network, because a network takes only floats. The caller passes the output of
 * embedding_bag_forward() to network_forward(), and the d_input of network_backward_to_input() to
 * embedding_bag_compute_gradient(). The table is not one of the network's parameters, because all
 * of those are summed at every step, and a step changes only a few rows of the table.
 *
 * An ONNX file has only the layers of the network, so it does not have this layer. */
#ifndef TRAINYARD_TRAIN_LAYERS_EMBEDDING_BAG_H
#define TRAINYARD_TRAIN_LAYERS_EMBEDDING_BAG_H

#include "base/cleanup.h"
#include "base/err.h"
#include "train/kernels/embedding_bag.h"

struct embedding_bag {
    size_t rows;   /* number of ids */
    int width;     /* floats per row */
    float *table;  /* rows × width */
    float *square; /* sums of squared gradients, for Adagrad */
    /* The gradient of the latest backward pass. It has `touched` rows, and memory for `room`
     * rows. */
    size_t touched, room;
    int64_t *ids;    /* ids of the touched rows, ascending */
    float *gradient; /* touched × width */
    struct embedding_bag_place *scratch;
};

/* Creates a table with random values. The values of a row depend only on the seed, the number of
 * the row and the width. The caller frees the result. */
struct embedding_bag *embedding_bag_new(size_t rows, int width, uint64_t seed);
struct embedding_bag *embedding_bag_free(struct embedding_bag *bag); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(embedding_bag)

/* Checks an untrusted batch. Returns 0, -ERR_UNSUPPORTED for a mean with weights, or -ERR_INVALID
 * if the offsets do not start at 0, if an offset is smaller than the previous one, or if an id has
 * no row. */
int embedding_bag_check(const struct embedding_bag *bag, const struct embedding_bags *bags,
                        struct err *err);

/* Runs the backward pass: sets `touched`, `ids` and `gradient`. */
void embedding_bag_compute_gradient(struct embedding_bag *bag, const struct embedding_bags *bags,
                                    const float *d_out);
/* Updates the touched rows with Adagrad. */
void embedding_bag_step(struct embedding_bag *bag, float rate);

#endif

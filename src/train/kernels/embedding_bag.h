/* Converts bags of ids to vectors. The vector of a bag is the sum of the table rows with
 * its ids, each times its weight, or the mean of the rows without weights. In the backward pass
 * only these rows have a gradient, so the cost of a step depends on the number of ids and not on
 * the size of the table. The caller provides the memory of all results, and the scratch memory. */
#ifndef TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H
#define TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedding_bags {
    size_t count;
    /* count + 1 positions in `ids`, the first is 0; bag b has the ids at offsets[b] to
     * offsets[b + 1] - 1 */
    const size_t *offsets;
    const int64_t *ids;   /* rows of the table; NULL: ids32 has them */
    const int32_t *ids32; /* rows of the table in 32 bits; used if `ids` is NULL */
    const float *weights; /* one per position in `ids`; NULL: every id has weight 1 */
    /* the vector is the mean instead of the sum; an empty bag has the vector 0 in both cases */
    bool mean;
};

/* An id, its position in `ids`, and its bag. embedding_bag_backward() sorts these. */
struct embedding_bag_place {
    int64_t id;
    size_t position, bag;
};

static inline int64_t embedding_bag_id(const struct embedding_bags *bags, size_t position)
{
    return bags->ids ? bags->ids[position] : bags->ids32[position];
}

/* Sets out[count][width] from table[…][width]. */
void embedding_bag_forward_ref(const struct embedding_bags *bags, int width, const float *table,
                               float *out);
void embedding_bag_forward(const struct embedding_bags *bags, int width, const float *table,
                           float *out);

/* Adds the gradients to d_table[…][width], which has all rows of the table. */
void embedding_bag_backward_ref(const struct embedding_bags *bags, int width, const float *d_out,
                                float *d_table);

/* Like embedding_bag_backward_ref(), but sets only the gradients of the rows whose ids are in the
 * bags. Returns the number of these rows. Sets ret_ids to their ids, in ascending order, and
 * ret_rows to their gradients. `scratch`, ret_ids and ret_rows must have room for one element or
 * row per id of the bags. The terms of a row are added in the order of their positions, independent
 * of other ids. */
size_t embedding_bag_backward(const struct embedding_bags *bags, int width, const float *d_out,
                              struct embedding_bag_place *scratch, int64_t *ret_ids,
                              float *ret_rows);

/* Sets d_weights to the gradients of the weights, one per position in `ids`. */
void embedding_bag_backward_weights(const struct embedding_bags *bags, int width,
                                    const float *table, const float *d_out, float *d_weights);

#endif

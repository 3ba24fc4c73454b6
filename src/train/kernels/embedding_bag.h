/* Bags of ids to vectors: each bag becomes the sum, or the mean, of the table rows that its ids
 * name. In the backward pass only those rows have a gradient, so the cost of a step depends on its
 * ids and not on the size of the table. Like kernels.h, nothing is allocated. */
#ifndef TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H
#define TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedding_bags {
    size_t count;
    const size_t *offsets; /* count + 1: bag b has the ids offsets[b] to offsets[b+1] - 1 */
    const int64_t *ids;    /* rows of the table; NULL: ids32 has them */
    const int32_t *ids32;  /* rows of the table in 32 bits; used if `ids` is NULL */
    const float *weights;  /* one per id; NULL: every id has weight 1 */
    bool mean;             /* the mean instead of the sum; an empty bag is zero either way */
};

/* An id and its position, for sorting. */
struct embedding_bag_place {
    int64_t id;
    size_t place, bag;
};

static inline int64_t embedding_bag_id(const struct embedding_bags *bags, size_t place)
{
    return bags->ids ? bags->ids[place] : bags->ids32[place];
}

/* out[count][width] from table[…][width] */
void embedding_bag_forward_ref(const struct embedding_bags *bags, int width, const float *table,
                               float *out);
void embedding_bag_forward(const struct embedding_bags *bags, int width, const float *table,
                           float *out);

/* d_table[…][width] += …, for the whole table */
void embedding_bag_backward_ref(const struct embedding_bags *bags, int width, const float *d_out,
                                float *d_table);

/* Like embedding_bag_backward_ref(), but only for rows that are named. Returns their number and,
 * for each, its id (ascending) and its gradient. All three arrays must have room for all ids. The
 * terms of a row are added in the order of their positions, whatever else the bags contain. */
size_t embedding_bag_backward(const struct embedding_bags *bags, int width, const float *d_out,
                              struct embedding_bag_place *scratch, int64_t *ret_ids,
                              float *ret_rows);

/* d_weights[id] = … */
void embedding_bag_backward_weights(const struct embedding_bags *bags, int width,
                                    const float *table, const float *d_out, float *d_weights);

#endif

/* Bags of ids to vectors: each bag is the sum, or the mean, of the rows of a table that its ids
 * name. On the way back only rows that were named have a gradient, so that a step costs what its
 * ids cost and not what the table does. Kernels as in kernels.h: no memory of their own. */
#ifndef TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H
#define TRAINYARD_TRAIN_KERNELS_EMBEDDING_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedding_bags {
    size_t count;
    const size_t *offsets; /* count + 1: bag b has the ids from offsets[b] to before offsets[b+1] */
    const int64_t *ids;    /* rows of the table, or */
    const int32_t *ids32;  /* the same in 32 bits, where `ids` is NULL */
    const float *weights;  /* one an id; NULL: each counts once */
    bool mean;             /* of the ids of a bag; an empty one is zero either way */
};

/* An id and where it stands, for sorting. */
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

/* d_table[…][width] += …, every row of it */
void embedding_bag_backward_ref(const struct embedding_bags *bags, int width, const float *d_out,
                                float *d_table);

/* The same of named rows only: how many there are, and for each its id, ascending, and its
 * gradient. All three arrays have room for as many as there are ids. The order of a row's sum is
 * that of its places, whatever else is in the bags. */
size_t embedding_bag_backward(const struct embedding_bags *bags, int width, const float *d_out,
                              struct embedding_bag_place *scratch, int64_t *ret_ids,
                              float *ret_rows);

/* d_weights[id] = … */
void embedding_bag_backward_weights(const struct embedding_bags *bags, int width,
                                    const float *table, const float *d_out, float *d_weights);

#endif

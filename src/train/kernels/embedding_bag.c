/* Implements the reference and a fast version of embedding bags; see embedding_bag.h. The fast
 * version keeps a tile of the sum in registers while it adds the rows of all ids. It prefetches
 * rows, because a table is larger than the caches and the ids are scattered. */
#include "train/kernels/embedding_bag.h"

#include <stdlib.h>
#include <string.h>

enum {
    TILE = 16, /* floats of a vector that are summed in registers */
    AHEAD = 8, /* a row is prefetched this number of ids before it is added */
};

void embedding_bag_forward_ref(const struct embedding_bags *bags, int width, const float *table,
                               float *out)
{
    for (size_t b = 0; b < bags->count; b++)
        for (int w = 0; w < width; w++) {
            size_t first = bags->offsets[b], end = bags->offsets[b + 1];
            float sum = 0;
            for (size_t i = first; i < end; i++)
                sum += (bags->weights ? bags->weights[i] : 1) *
                       table[(size_t)embedding_bag_id(bags, i) * (size_t)width + (size_t)w];
            if (bags->mean && end > first)
                sum /= (float)(end - first);
            out[b * (size_t)width + (size_t)w] = sum;
        }
}

void embedding_bag_backward_ref(const struct embedding_bags *bags, int width, const float *d_out,
                                float *d_table)
{
    for (size_t b = 0; b < bags->count; b++)
        for (size_t i = bags->offsets[b]; i < bags->offsets[b + 1]; i++)
            for (int w = 0; w < width; w++) {
                float d_sum = d_out[b * (size_t)width + (size_t)w];
                if (bags->mean)
                    d_sum /= (float)(bags->offsets[b + 1] - bags->offsets[b]);
                d_table[(size_t)embedding_bag_id(bags, i) * (size_t)width + (size_t)w] +=
                    (bags->weights ? bags->weights[i] : 1) * d_sum;
            }
}

/* Returns the factor of one row in the vector of its bag. */
static float bag_factor(const struct embedding_bags *bags, size_t bag, size_t position)
{
    float weight = bags->weights ? bags->weights[position] : 1;
    return bags->mean ? weight / (float)(bags->offsets[bag + 1] - bags->offsets[bag]) : weight;
}

/* Sets `lanes` elements of the vector of a bag, starting with element `first`. */
static void add_rows(const struct embedding_bags *bags, size_t bag, size_t width, size_t first,
                     size_t lanes, const float *table, float *out)
{
    float sum[TILE] = {0};
    size_t last = bags->offsets[bags->count];
    for (size_t i = bags->offsets[bag]; i < bags->offsets[bag + 1]; i++) {
        if (i + AHEAD < last)
            __builtin_prefetch(table + (size_t)embedding_bag_id(bags, i + AHEAD) * width + first);
        const float *row = table + (size_t)embedding_bag_id(bags, i) * width + first;
        float weight = bag_factor(bags, bag, i);
        /* A constant number of iterations lets the compiler unroll the loop. */
        if (lanes == TILE)
            for (size_t w = 0; w < TILE; w++)
                sum[w] += weight * row[w];
        else
            for (size_t w = 0; w < lanes; w++)
                sum[w] += weight * row[w];
    }
    memcpy(out + first, sum, lanes * sizeof(*sum));
}

void embedding_bag_forward(const struct embedding_bags *bags, int width, const float *table,
                           float *out)
{
    size_t wide = (size_t)width;
    for (size_t b = 0; b < bags->count; b++, out += wide)
        for (size_t first = 0; first < wide; first += TILE)
            add_rows(bags, b, wide, first, wide - first < TILE ? wide - first : TILE, table, out);
}

static int by_id_then_position(const void *a, const void *b)
{
    const struct embedding_bag_place *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                          : (x->position > y->position) - (x->position < y->position);
}

size_t embedding_bag_backward(const struct embedding_bags *bags, int width, const float *d_out,
                              struct embedding_bag_place *scratch, int64_t *ret_ids,
                              float *ret_rows)
{
    size_t wide = (size_t)width, total = bags->offsets[bags->count], rows = 0;
    for (size_t b = 0; b < bags->count; b++)
        for (size_t i = bags->offsets[b]; i < bags->offsets[b + 1]; i++)
            scratch[i] = (struct embedding_bag_place){embedding_bag_id(bags, i), i, b};
    qsort(scratch, total, sizeof(*scratch), by_id_then_position);
    for (size_t i = 0; i < total; i++) {
        const struct embedding_bag_place *at = &scratch[i];
        if (rows == 0 || ret_ids[rows - 1] != at->id) {
            memset(ret_rows + rows * wide, 0, wide * sizeof(*ret_rows));
            ret_ids[rows++] = at->id;
        }
        float *row = ret_rows + (rows - 1) * wide, weight = bag_factor(bags, at->bag, at->position);
        const float *d_bag = d_out + at->bag * wide;
        for (size_t w = 0; w < wide; w++)
            row[w] += weight * d_bag[w];
    }
    return rows;
}

void embedding_bag_backward_weights(const struct embedding_bags *bags, int width,
                                    const float *table, const float *d_out, float *d_weights)
{
    size_t wide = (size_t)width;
    for (size_t b = 0; b < bags->count; b++) {
        float part = bags->mean ? 1 / (float)(bags->offsets[b + 1] - bags->offsets[b]) : 1;
        for (size_t i = bags->offsets[b]; i < bags->offsets[b + 1]; i++) {
            const float *row = table + (size_t)embedding_bag_id(bags, i) * wide;
            float product = 0;
            for (size_t w = 0; w < wide; w++)
                product += row[w] * d_out[b * wide + w];
            d_weights[i] = part * product;
        }
    }
}

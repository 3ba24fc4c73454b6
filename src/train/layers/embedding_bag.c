/* Implements the table of an embedding bag and its optimizer step; see embedding_bag.h. */
#include "train/layers/embedding_bag.h"

#include "base/mem.h"
#include "base/rand.h"

#include <math.h>
#include <stdlib.h>

/* Makes the random numbers of rows independent of other random numbers with the same seed. */
static const uint64_t KEY_ROW = 0x656d626564646267;

struct embedding_bag *embedding_bag_new(size_t rows, int width, uint64_t seed)
{
    struct embedding_bag *bag = mem_zalloc(sizeof(*bag));
    size_t count = rows * (size_t)width;
    bag->rows = rows;
    bag->width = width;
    bag->table = mem_calloc(count, sizeof(*bag->table));
    bag->square = mem_calloc(count, sizeof(*bag->square));
    for (size_t row = 0; row < rows; row++) {
        struct rand rand;
        rand_init_keyed(&rand, seed, KEY_ROW, row);
        for (int w = 0; w < width; w++)
            bag->table[row * (size_t)width + (size_t)w] =
                (float)(rand_normal(&rand) / sqrt((double)width));
    }
    return bag;
}

struct embedding_bag *embedding_bag_free(struct embedding_bag *bag)
{
    if (!bag)
        return NULL;
    free(bag->table);
    free(bag->square);
    free(bag->ids);
    free(bag->gradient);
    free(bag->scratch);
    free(bag);
    return NULL;
}

int embedding_bag_check(const struct embedding_bag *bag, const struct embedding_bags *bags,
                        struct err *err)
{
    if (bags->mean && bags->weights)
        return err_set(err, ERR_UNSUPPORTED,
                       "the mean of weighted ids is not supported: use their sum");
    if (bags->offsets[0] != 0)
        return err_set(err, ERR_INVALID, "the offsets of the bags must start at 0, not %zu",
                       bags->offsets[0]);
    for (size_t b = 0; b < bags->count; b++)
        if (bags->offsets[b + 1] < bags->offsets[b])
            return err_set(err, ERR_INVALID, "bag %zu: the offsets must not decrease", b);
    for (size_t i = 0; i < bags->offsets[bags->count]; i++) {
        int64_t id = embedding_bag_id(bags, i);
        if (id < 0 || (uint64_t)id >= bag->rows)
            return err_set(err, ERR_INVALID, "id %lld is not in the table, which has rows 0 to %zu",
                           (long long)id, bag->rows - 1);
    }
    return 0;
}

void embedding_bag_compute_gradient(struct embedding_bag *bag, const struct embedding_bags *bags,
                                    const float *d_out)
{
    size_t total = bags->offsets[bags->count];
    if (total > bag->room) {
        free(bag->ids);
        free(bag->gradient);
        free(bag->scratch);
        bag->room = total;
        bag->ids = mem_calloc(total, sizeof(*bag->ids));
        bag->gradient = mem_calloc(total * (size_t)bag->width, sizeof(*bag->gradient));
        bag->scratch = mem_calloc(total, sizeof(*bag->scratch));
    }
    bag->touched = total ? embedding_bag_backward(bags, bag->width, d_out, bag->scratch, bag->ids,
                                                  bag->gradient)
                         : 0;
}

void embedding_bag_step(struct embedding_bag *bag, float rate)
{
    const float *gradient = bag->gradient;
    for (size_t i = 0; i < bag->touched; i++, gradient += bag->width) {
        size_t at = (size_t)bag->ids[i] * (size_t)bag->width;
        for (int w = 0; w < bag->width; w++) {
            float *square = &bag->square[at + (size_t)w];
            *square += gradient[w] * gradient[w];
            bag->table[at + (size_t)w] -= rate * gradient[w] / (sqrtf(*square) + 1e-8F);
        }
    }
}

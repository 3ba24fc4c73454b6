/* Ratings that follow preferences: users and items are points on a circle, and a user likes items
 * nearby. All users and all items have the same mean rating, so only the pair predicts a rating. */
#ifndef TRAINYARD_TESTS_UNIT_MODELS_TASTE_H
#define TRAINYARD_TESTS_UNIT_MODELS_TASTE_H

#include "base/mem.h"
#include "base/rand.h"
#include "train/data/ratings.h"

#include <math.h>

static inline struct ratings *taste_ratings(size_t users, size_t items, size_t count, uint64_t seed)
{
    struct ratings *ratings = mem_zalloc(sizeof(*ratings));
    ratings->items = mem_calloc(count, sizeof(*ratings->items));
    ratings->count = count;
    struct rand rand;
    rand_init(&rand, seed);
    for (size_t i = 0; i < count; i++) {
        uint64_t user = rand_below(&rand, users), item = rand_below(&rand, items);
        double angle =
            6.28318530718 * ((double)user / (double)users - (double)item / (double)items);
        double value = 3.25 + 1.75 * cos(angle) + 0.3 * rand_normal(&rand);
        ratings->items[i] = (struct rating){(int64_t)user, (int64_t)item, (float)value};
    }
    return ratings;
}

#endif

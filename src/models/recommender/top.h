/* Finds the items with the highest scores for a user. Leaves out items that the user has already
 * rated. `trainer recommend` calls it. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_TOP_H
#define TRAINYARD_MODELS_RECOMMENDER_TOP_H

#include "models/recommender/model.h"

struct recommender_candidate {
    int64_t item;
    float score;    /* predicted rating, or probability that the user likes the item */
    size_t ratings; /* number of ratings of the item by all users */
};

struct recommender_top {
    struct recommender_candidate *items; /* highest score first; items with equal scores by id */
    size_t count;
    size_t rated; /* number of ratings by the user */
};

/* Finds at most `limit` items for the user with this id (see ratings_id()). Leaves out items with
 * fewer than `ratings_min` ratings, because their scores are unreliable. Returns -ERR_NOT_FOUND if
 * the user has no rating. The caller releases *ret. */
int recommender_top_find(struct recommender_model *model, const struct ratings *ratings,
                         int64_t user, size_t ratings_min, size_t limit,
                         struct recommender_top *ret, struct err *err);
void recommender_top_release(struct recommender_top *top); /* safe on zeroed memory */

#endif

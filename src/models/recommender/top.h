/* The items a user would like most among those not rated yet: what a trained recommender is for.
 * Called by `trainer recommend`. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_TOP_H
#define TRAINYARD_MODELS_RECOMMENDER_TOP_H

#include "models/recommender/model.h"

struct recommender_candidate {
    int64_t item;
    float score;    /* what the user would rate it, or the probability of liking it */
    size_t ratings; /* of all users */
};

struct recommender_top {
    struct recommender_candidate *items; /* malloc'ed, the best first; equal ones by id */
    size_t count;
    size_t rated; /* by the user */
};

/* Items with fewer than `ratings_min` ratings are left out: little is known of them. A user without
 * a rating is ERR_NOT_FOUND. */
int recommender_top_find(struct recommender_model *model, const struct ratings *ratings,
                         int64_t user, size_t ratings_min, size_t limit,
                         struct recommender_top *ret, struct err *err);
void recommender_top_release(struct recommender_top *top); /* safe on zeroed memory */

#endif

/* How good a model is. Of an embedding, from distances alone: pairs of pictures of one person
 * should lie nearer than pairs of two; of scores, by the order they give. Exact, ties included;
 * called at the end of training and by predict. */
#ifndef TRAINYARD_TRAIN_METRICS_H
#define TRAINYARD_TRAIN_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct metrics_pair {
    float distance;
    bool same;
};

struct metrics {
    size_t same, different; /* pairs */
    double auc;             /* a pair of one person is nearer than one of two; ties count half */
    double accuracy;        /* at the best threshold, with both kinds weighing the same */
    double threshold;       /* "same" below it */
    double nearest;         /* pictures whose nearest other picture is of the same person */
};

enum { METRICS_PICTURES_MAX = 4096 };

/* Sorts the pairs. `auc` and `accuracy` are 0.5 where one kind is missing; `nearest` is not set. */
struct metrics metrics_of_pairs(struct metrics_pair *pairs, size_t count);

/* The same pairs, sorted, as a curve: below a threshold lies which part of the pairs of one person,
 * and which of those of two. From (0, 0) to (1, 1) in at most `max` (3 or more) points; returns how
 * many. None where one kind is missing. */
struct metrics_point {
    double threshold, same, different;
};
size_t metrics_roc(const struct metrics_pair *sorted, size_t count, struct metrics_point *ret,
                   size_t max);

/* How often a positive sample has a higher score than a negative one; ties count half. 0.5 where
 * one kind is missing. */
double metrics_auc(const float *scores, const bool *positive, size_t count);

/* All pairs of n ≤ METRICS_PICTURES_MAX vectors, in Euclidean distance. */
struct metrics metrics_of_vectors(const float *vectors, const int *labels, size_t n, size_t dim);

float metrics_distance(const float *a, const float *b, size_t dim); /* Euclidean */

#endif

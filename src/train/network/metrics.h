/* Measures the quality of a model. For embeddings, pairs of pictures of one person should be nearer
 * than pairs of two persons. For scores, positive samples should have higher scores. The results
 * are exact, including ties. Called by the evaluations of the face model and of the recommender, by
 * `trainer predict`, and for the thresholds of a gallery (models/face/threshold.h). */
#ifndef TRAINYARD_TRAIN_NETWORK_METRICS_H
#define TRAINYARD_TRAIN_NETWORK_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct metrics_pair {
    float distance;
    bool same;
};

struct metrics {
    size_t same, different; /* number of pairs of one person, and of two persons */
    /* probability that a pair of one person is nearer than a pair of two; ties count half */
    double auc;
    double accuracy;  /* at the best threshold; both kinds of pairs have the same weight */
    double threshold; /* pairs below it are predicted to be of one person */
    double nearest;   /* fraction of pictures whose nearest other picture is of the same person */
};

enum { METRICS_PICTURES_MAX = 4096 };

/* Computes all members except `nearest`. Sorts the pairs by distance, unless all pairs are of the
 * same kind; then `auc` and `accuracy` are 0.5. */
struct metrics metrics_of_pairs(struct metrics_pair *pairs, size_t count);

/* A point of the ROC curve: the fraction of the pairs of one person, and the fraction of the pairs
 * of two persons, whose distance is at most the threshold. */
struct metrics_point {
    double threshold, same, different;
};
/* Sets the curve of sorted pairs, from (0, 0) to (1, 1), in at most `max` (3 or more) points.
 * Returns the number of points, or 0 if all pairs are of the same kind. */
size_t metrics_roc(const struct metrics_pair *sorted, size_t count, struct metrics_point *ret,
                   size_t max);

/* Returns the probability that a positive sample has a higher score than a negative sample, where
 * ties count half. Returns 0.5 if all samples are of the same kind. */
double metrics_auc(const float *scores, const bool *positive, size_t count);

/* Compares all pairs of n vectors by Euclidean distance. Aborts if n is above
 * METRICS_PICTURES_MAX. */
struct metrics metrics_of_vectors(const float *vectors, const int *labels, size_t n, size_t dim);

float metrics_distance(const float *a, const float *b, size_t dim); /* the Euclidean distance */

#endif

/* Decides whether a face belongs to the nearest person of a gallery or to a stranger, which is a
 * person who is not in the gallery. The nearest person counts as recognised only if the distance is
 * below a threshold. The threshold is chosen such that only a given fraction of strangers is
 * accepted by mistake. It is computed from a distribution: the distances between pictures and
 * people who are not on them. The distribution is measured on the people of the gallery, or at the
 * end of training, if possible on held-out people. `trainer serve` uses the thresholds, and
 * training stores the distribution. The functions of this file read no pictures and no files. */
#ifndef TRAINYARD_MODELS_FACE_THRESHOLD_H
#define TRAINYARD_MODELS_FACE_THRESHOLD_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FACE_STRANGERS_QUANTILES = 13,
    /* A gallery of fewer people uses the model's distribution, if the model has one. */
    FACE_STRANGERS_PEOPLE_MIN = 5,
};

/* The distribution of the distances of strangers. Each distance is the mean distance from a picture
 * of one person to the pictures of another person. */
struct face_strangers {
    size_t people; /* number of people who were compared; 0: nothing was measured */
    size_t pairs;  /* number of pairs of a picture and a person */
    /* Whether the distribution was measured on people of the training data. A model puts these
     * people farther apart than people that it was not trained on. */
    bool trained_on;
    double quantiles[FACE_STRANGERS_QUANTILES]; /* ascending; threshold.c lists the fractions */
};

/* Computes the distribution of `pairs` distances between `people` people. Sorts `distances`. If
 * `pairs` is 0, the result has `people` 0. */
struct face_strangers face_strangers_of(double *distances, size_t pairs, size_t people);

/* Returns the distance below which a fraction `part` (0 … 1) of the pairs lies, interpolated
 * between the stored quantiles. Returns the median if `part` is more than 0.5. */
double face_strangers_distance(const struct face_strangers *strangers, double part);

/* Measures the distribution from embeddings. Person i has the embeddings from first[i] to first[i +
 * 1] - 1. If there are many, an even selection is measured: at most 8 pictures of each of at most
 * 400 people. Each of them is compared with all pictures of each other selected person. */
struct face_strangers face_strangers_measure(const float *embeddings, const size_t *first,
                                             size_t people, size_t dimensions);

/* The JSON in a model file. For any other JSON, or NULL, face_strangers_from_json() returns a
 * result with `people` 0. */
struct json *face_strangers_to_json(struct arena *arena, const struct face_strangers *strangers);
struct face_strangers face_strangers_from_json(const struct json *json);

/* The default fraction of strangers that are accepted as a person of the gallery. A lower rate
 * makes the model reject more pictures of people in the gallery: 12 to 56 % of them at a rate of
 * 0.01, 10 to 38 % at 0.05, and 3 to 24 % at 0.1. These numbers were measured with models of the
 * default size, on people that the models were not trained on (twice 10 people of the ORL data set,
 * twice 9 generated people). */
#define FACE_ACCEPT_RATE_DEFAULT "0.05"

enum face_threshold_source {
    FACE_THRESHOLD_GALLERY, /* measured on the people of the gallery */
    FACE_THRESHOLD_MODEL,   /* measured at the end of training */
    FACE_THRESHOLD_DEFAULT, /* fixed distances, because there is no measurement */
};

struct face_threshold {
    /* Below this distance a person is "very likely". Accepts a tenth of the wanted fraction of
     * strangers. */
    double sure;
    /* Below this distance a person is recognised. Accepts the wanted fraction of strangers. */
    double known;
    /* Below this distance a person is "unsure". Accepts five times the wanted fraction of
     * strangers, but at most half of them. */
    double near;
    enum face_threshold_source source;
};

/* Returns the thresholds for a gallery of `people` people, such that `known` accepts a fraction
 * `rate` of strangers. A stranger is accepted if any person of the gallery is near enough. The
 * distribution is chosen in this order: the gallery's, if it has enough people, and enough pairs
 * for this rate; the model's, if it has one; the gallery's, even if it is small. If neither has a
 * distribution, the thresholds are fixed distances, which do not depend on `rate`. */
struct face_threshold face_threshold_of(const struct face_strangers *gallery,
                                        const struct face_strangers *model, size_t people,
                                        double rate);

/* Returns a constant text for a distance: "very likely", "likely", "unsure", or "no person of the
 * gallery is near". */
const char *face_threshold_words(const struct face_threshold *threshold, double distance);

#endif

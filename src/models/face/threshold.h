/* Decides when a face belongs to no person of a gallery. The nearest person counts as recognised
 * only if the distance is below a threshold. Strangers are people who are not in the gallery. The
 * threshold is chosen such that only a given fraction of strangers is accepted. It is computed from
 * a distribution of distances between a picture and another person. This distribution is measured
 * on the people of the gallery, or at the end of training, if possible on held-out people. The
 * functions of this file read no pictures and no files. */
#ifndef TRAINYARD_MODELS_FACE_THRESHOLD_H
#define TRAINYARD_MODELS_FACE_THRESHOLD_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FACE_STRANGERS_QUANTILES = 13,
    FACE_STRANGERS_PEOPLE_MIN = 5, /* a gallery of fewer people uses the model's distribution */
};

/* The distribution of the distances of strangers. Each distance is the mean distance from a picture
 * to all pictures of another person. */
struct face_strangers {
    size_t people; /* people who were compared; 0: nothing was measured */
    size_t pairs;  /* pairs of a picture and a person */
    /* Whether it was measured on people of the training data. A model puts these people farther
     * apart than people that it was not trained on. */
    bool trained_on;
    double quantiles[FACE_STRANGERS_QUANTILES]; /* ascending; threshold.c lists the fractions */
};

/* Computes the distribution, and sorts `distances` for it. If `pairs` is 0, the result has `people`
 * 0. */
struct face_strangers face_strangers_of(double *distances, size_t pairs, size_t people);

/* The distance below which a fraction `part` (0 … 1) of the pairs lies. Interpolates between the
 * stored quantiles. Returns the median if `part` is more than 0.5. */
double face_strangers_distance(const struct face_strangers *strangers, double part);

/* Measures the distribution from the embeddings of all pictures. Person i has the embeddings from
 * first[i] to first[i + 1] - 1. If there are very many, an even selection of them is used. */
struct face_strangers face_strangers_measure(const float *embeddings, const size_t *first,
                                             size_t people, size_t dimensions);

/* Convert to and from the JSON in a model file. Any other JSON gives a result with `people` 0. */
struct json *face_strangers_to_json(struct arena *arena, const struct face_strangers *strangers);
struct face_strangers face_strangers_from_json(const struct json *json);

/* The default fraction of strangers that are accepted as a person of the gallery. A lower rate
 * makes the model reject more pictures of people in the gallery: 12 to 56 % at 0.01, 10 to 38 % at
 * 0.05, and 3 to 24 % at 0.1. Measured with models of the default size, on people they were not
 * trained on (twice 10 people of the ORL data set, twice 9 generated people). */
#define FACE_ACCEPT_RATE_DEFAULT "0.05"

enum face_threshold_source {
    FACE_THRESHOLD_GALLERY, /* measured on the people of the gallery */
    FACE_THRESHOLD_MODEL,   /* measured at the end of training */
    FACE_THRESHOLD_DEFAULT, /* fixed distances: there is no measurement */
};

struct face_threshold {
    /* below this distance: "very likely"; accepts a tenth of the wanted fraction of strangers */
    double sure;
    /* below this distance: recognised; accepts the wanted fraction of strangers */
    double known;
    /* below this distance: "unsure"; accepts five times the wanted fraction of strangers */
    double near;
    enum face_threshold_source source;
};

/* Returns the thresholds for a gallery with `people` people; `known` accepts a fraction `rate` of
 * strangers. A stranger is accepted if any person of the gallery is near enough. The distribution
 * is chosen in this order: the gallery's, if it has enough people and pairs for this rate; the
 * model's, if it has one; the gallery's, even if it is small; fixed distances. */
struct face_threshold face_threshold_of(const struct face_strangers *gallery,
                                        const struct face_strangers *model, size_t people,
                                        double rate);

/* Returns the words for a distance: "very likely", "likely", "unsure", or that no person is
 * near. */
const char *face_threshold_words(const struct face_threshold *threshold, double distance);

#endif

/* Decides when a face belongs to no person of a gallery. The nearest person is an answer only if
 * the face is nearer to that person than strangers come. How near strangers come is measured as a
 * distribution: the distances between pictures and people who are not on them. A gallery measures
 * it on its own people, training on the people it held out. The thresholds follow from this
 * distribution and from the fraction of strangers that may be accepted. Pure functions: no picture
 * and no file is read here. */
#ifndef TRAINYARD_MODELS_FACE_THRESHOLD_H
#define TRAINYARD_MODELS_FACE_THRESHOLD_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FACE_STRANGERS_QUANTILES = 13,
    FACE_STRANGERS_PEOPLE_MIN = 5, /* fewer people say too little about people in general */
};

/* The distribution of the distance between a picture and another person: the mean distance to that
 * person's pictures. */
struct face_strangers {
    size_t people;   /* 0: nothing was measured */
    size_t pairs;    /* pairs of a picture and a person */
    bool trained_on; /* measured on people the model was trained on, whom it tells apart better */
    double quantiles[FACE_STRANGERS_QUANTILES]; /* ascending; threshold.c lists the fractions */
};

/* Sorts the distances. Without any, nothing was measured. */
struct face_strangers face_strangers_of(double *distances, size_t pairs, size_t people);

/* The distance below which a fraction `part` (0 … 1) of the pairs lies. For less than one pair in
 * all it is the smallest distance that was seen. */
double face_strangers_distance(const struct face_strangers *strangers, double part);

/* Measures the distribution from the embeddings of all pictures; person i has those from first[i]
 * to first[i + 1] - 1. If there are very many, an even selection is used. */
struct face_strangers face_strangers_measure(const float *embeddings, const size_t *first,
                                             size_t people, size_t dimensions);

/* The format of the model file. Any other JSON reads as "nothing was measured". */
struct json *face_strangers_to_json(struct arena *arena, const struct face_strangers *strangers);
struct face_strangers face_strangers_from_json(const struct json *json);

/* The default fraction of strangers that are accepted as a person of the gallery. Measured with
 * models of the default size, on people they were not trained on (10 of ORL twice, 9 drawn ones
 * twice): of the people's own pictures 12 to 56 % are not recognised at 0.01, 10 to 38 % at 0.05,
 * and 3 to 24 % at 0.1. */
#define FACE_ACCEPT_RATE_DEFAULT "0.05"

enum face_threshold_source {
    FACE_THRESHOLD_GALLERY, /* measured on the people of the gallery */
    FACE_THRESHOLD_MODEL,   /* measured at the end of training */
    FACE_THRESHOLD_DEFAULT, /* fixed distances: neither measurement had enough data */
};

struct face_threshold {
    /* nearer than this is very likely: a tenth of the accepted strangers come as near */
    double sure;
    double known; /* nearer than this counts as recognised */
    double near;  /* nearer than this is unsure: five times the accepted strangers come as near */
    enum face_threshold_source source;
};

/* For a gallery of `people` people, to each of whom a stranger may be near, such that a fraction
 * `rate` of strangers is accepted as one of them. Uses the distribution of the gallery if it has
 * enough people and pairs for this rate, else that of the model, else that of the gallery after
 * all. */
struct face_threshold face_threshold_of(const struct face_strangers *gallery,
                                        const struct face_strangers *model, size_t people,
                                        double rate);

/* "very likely", "likely", "unsure" or "nobody in the gallery is near". */
const char *face_threshold_words(const struct face_threshold *threshold, double distance);

#endif

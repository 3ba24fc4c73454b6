/* When is a face nobody's? The nearest person of a gallery is only an answer if the face is nearer
 * to that person than strangers come. How near they come is measured as a distribution: the
 * distances between pictures and people who are not on them. A gallery measures it on its own
 * people, training on the people it held out; the thresholds follow from it and from the part of
 * strangers that may be taken for somebody. Pure functions: no picture and no file is read here. */
#ifndef TRAINYARD_MODELS_FACE_THRESHOLD_H
#define TRAINYARD_MODELS_FACE_THRESHOLD_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FACE_STRANGERS_QUANTILES = 13,
    FACE_STRANGERS_PEOPLE_MIN = 5, /* fewer say too little about people in general */
};

/* The distribution of the distance between a picture and another person: the mean distance to that
 * person's pictures. */
struct face_strangers {
    size_t people;   /* 0: nothing was measured */
    size_t pairs;    /* of a picture and a person */
    bool trained_on; /* by people the model was trained on, which it tells apart better than others
                      */
    double quantiles[FACE_STRANGERS_QUANTILES]; /* see face_threshold.c; they do not fall */
};

/* Sorts the distances. Without any, nothing was measured. */
struct face_strangers face_strangers_of(double *distances, size_t pairs, size_t people);

/* The distance that so many of the pairs (0 … 1) fall below. Below one pair in all of them it is
 * the smallest that was seen. */
double face_strangers_distance(const struct face_strangers *strangers, double part);

/* The same, measured: `embeddings` of all pictures, of person i those from first[i] to before
 * first[i + 1]. Of very many people and pictures some are taken, evenly. */
struct face_strangers face_strangers_measure(const float *embeddings, const size_t *first,
                                             size_t people, size_t dimensions);

/* As the model file keeps it. What is not such a distribution reads as "nothing was measured". */
struct json *face_strangers_to_json(struct arena *arena, const struct face_strangers *strangers);
struct face_strangers face_strangers_from_json(const struct json *json);

/* The part of strangers taken for somebody of the gallery if nobody says otherwise. With models of
 * the size that is trained here, measured on people they never saw (10 of ORL twice, 9 drawn ones
 * twice), of the people's own pictures 12 to 56 % are not known at 0.01, 10 to 38 % at 0.05, and 3
 * to 24 % at 0.1. */
#define FACE_ACCEPT_RATE_DEFAULT "0.05"

enum face_threshold_source {
    FACE_THRESHOLD_GALLERY, /* the people of the gallery */
    FACE_THRESHOLD_MODEL,   /* the people that were there at the end of training */
    FACE_THRESHOLD_DEFAULT, /* neither was enough: fixed distances */
};

struct face_threshold {
    double sure;  /* nearer than this: a tenth of the accepted strangers come as near */
    double known; /* nearer than this: the person is taken to be known */
    double near;  /* nearer than this: perhaps; five times the accepted strangers come as near */
    enum face_threshold_source source;
};

/* For a gallery of `people`, to each of which a stranger may be near, such that the part `rate` of
 * strangers is taken for one of them. The gallery's own distribution decides if it has enough
 * people and pairs for this rate, else the model's, else the gallery's all the same. */
struct face_threshold face_threshold_of(const struct face_strangers *gallery,
                                        const struct face_strangers *model, size_t people,
                                        double rate);

/* "very likely", "likely", "unsure" or "nobody in the gallery is near". */
const char *face_threshold_words(const struct face_threshold *threshold, double distance);

#endif

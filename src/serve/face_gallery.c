/* Implements the gallery; see face_gallery.h. */
#include "serve/face_gallery.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>

struct face_gallery {
    const struct dataset *people;
    size_t dimensions;
    size_t *first;     /* by person: index of the first embedding; the last entry is the total */
    float *embeddings; /* [pictures][dimensions] */
};

static int embed_all(struct face_gallery *gallery, struct face_model *model, struct err *err)
{
    size_t side = face_model_side(model), channels = face_model_channels(model);
    _cleanup_free_ float *pixels =
        mem_calloc(face_config_sample(face_model_config(model)), sizeof(float));
    for (size_t person = 0; person < dataset_persons(gallery->people); person++) {
        for (size_t i = 0; i < dataset_pictures(gallery->people, person); i++) {
            float *embedding =
                &gallery->embeddings[(gallery->first[person] + i) * gallery->dimensions];
            int result = dataset_load(gallery->people, person, i, side, channels, pixels, err);
            if (result == 0)
                result = face_model_embed(model, pixels, 1, embedding, err);
            if (result < 0)
                return result;
        }
    }
    return 0;
}

int face_gallery_new(struct face_model *model, const struct dataset *people,
                     struct face_gallery **ret, struct err *err)
{
    size_t persons = dataset_persons(people);
    _cleanup_(cleanup_face_gallery) struct face_gallery *gallery = mem_zalloc(sizeof(*gallery));
    gallery->people = people;
    gallery->dimensions = face_model_dimensions(model);
    gallery->first = mem_calloc(persons + 1, sizeof(size_t));
    for (size_t person = 0; person < persons; person++)
        gallery->first[person + 1] = gallery->first[person] + dataset_pictures(people, person);
    gallery->embeddings = mem_calloc(gallery->first[persons] * gallery->dimensions, sizeof(float));
    int result = embed_all(gallery, model, err);
    if (result < 0)
        return result;
    *ret = TAKE(gallery);
    return 0;
}

struct face_gallery *face_gallery_free(struct face_gallery *gallery)
{
    if (gallery) {
        free(gallery->first);
        free(gallery->embeddings);
        free(gallery);
    }
    return NULL;
}

static double euclidean_distance(const float *a, const float *b, size_t dimensions)
{
    double sum = 0;
    for (size_t i = 0; i < dimensions; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum);
}

/* Sets *ret to the mean distance to the pictures of a person, and to the nearest of them. Ignores
 * the picture with index `left_out`. Returns false if no other picture exists. */
static bool match_person(const struct face_gallery *gallery, size_t person, const float *embedding,
                         size_t left_out, struct face_match *ret)
{
    double sum = 0, nearest = INFINITY;
    size_t count = 0;
    for (size_t at = gallery->first[person]; at < gallery->first[person + 1]; at++) {
        if (at == left_out)
            continue;
        double d = euclidean_distance(embedding, &gallery->embeddings[at * gallery->dimensions],
                                      gallery->dimensions);
        sum += d;
        count++;
        if (d < nearest) {
            nearest = d;
            ret->picture = at - gallery->first[person];
        }
    }
    ret->person = person;
    ret->distance = count ? sum / (double)count : INFINITY;
    return count > 0;
}

/* Implements face_gallery_nearest(), without the picture with index `left_out`. */
static size_t nearest_without(const struct face_gallery *gallery, const float *embedding,
                              size_t left_out, struct face_match *ret_matches, size_t max)
{
    size_t count = 0;
    for (size_t person = 0; person < dataset_persons(gallery->people); person++) {
        struct face_match match;
        if (!match_person(gallery, person, embedding, left_out, &match))
            continue;
        size_t at = count < max ? count : max;
        for (; at > 0 && ret_matches[at - 1].distance > match.distance; at--)
            if (at < max)
                ret_matches[at] = ret_matches[at - 1];
        if (at < max)
            ret_matches[at] = match;
        count += count < max;
    }
    return count;
}

size_t face_gallery_nearest(const struct face_gallery *gallery, const float *embedding,
                            struct face_match *ret_matches, size_t max)
{
    return nearest_without(gallery, embedding, SIZE_MAX, ret_matches, max);
}

struct face_threshold face_gallery_threshold(const struct face_gallery *gallery,
                                             const struct face_model *model, double rate)
{
    size_t people = dataset_persons(gallery->people);
    struct face_strangers measured =
        face_strangers_measure(gallery->embeddings, gallery->first, people, gallery->dimensions);
    return face_threshold_of(&measured, face_model_strangers(model), people, rate);
}

double face_gallery_accuracy(const struct face_gallery *gallery)
{
    size_t tested = 0, correct = 0;
    for (size_t person = 0; person < dataset_persons(gallery->people); person++) {
        size_t first = gallery->first[person], end = gallery->first[person + 1];
        for (size_t at = first; end - first > 1 && at < end; at++) {
            struct face_match match;
            tested++;
            correct += nearest_without(gallery, &gallery->embeddings[at * gallery->dimensions], at,
                                       &match, 1) == 1 &&
                       match.person == person;
        }
    }
    return tested ? (double)correct / (double)tested : -1;
}

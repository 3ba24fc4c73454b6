/* The people that a face is compared with. Every picture of them is embedded once, when the gallery
 * is made. */
#ifndef TRAINYARD_SERVE_FACE_GALLERY_H
#define TRAINYARD_SERVE_FACE_GALLERY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "models/face/model.h"
#include "train/data/dataset.h"

#include <stddef.h>

struct face_gallery;

/* `people` must outlive the gallery. The model is used only during this call. */
int face_gallery_new(struct face_model *model, const struct dataset *people,
                     struct face_gallery **ret, struct err *err);
struct face_gallery *face_gallery_free(struct face_gallery *gallery);
DEFINE_CLEANUP(face_gallery)

struct face_match {
    size_t person;
    size_t picture;  /* the picture of the person that is nearest to the face */
    double distance; /* mean Euclidean distance to the person's pictures */
};

/* Finds the nearest persons, nearest first. Returns how many, at most `max`. */
size_t face_gallery_nearest(const struct face_gallery *gallery, const float *embedding,
                            struct face_match *ret_matches, size_t max);

/* The distance beyond which a face is of no person in the gallery, chosen such that a fraction
 * `rate` of strangers is accepted. `model` must be the model of face_gallery_new(). */
struct face_threshold face_gallery_threshold(const struct face_gallery *gallery,
                                             const struct face_model *model, double rate);

/* The fraction of pictures that are nearest to their own person when they are left out of the
 * gallery. Persons with a single picture do not count. Returns -1 if no person has two. */
double face_gallery_accuracy(const struct face_gallery *gallery);

#endif

/* The people a face is compared with: every picture of them embedded once, when the gallery is
 * made. */
#ifndef TRAINYARD_SERVE_FACE_GALLERY_H
#define TRAINYARD_SERVE_FACE_GALLERY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "models/face/model.h"
#include "train/data/dataset.h"

#include <stddef.h>

struct face_gallery;

/* `people` must outlive the gallery; the model is used here only. */
int face_gallery_new(struct face_model *model, const struct dataset *people,
                     struct face_gallery **ret, struct err *err);
struct face_gallery *face_gallery_free(struct face_gallery *gallery);
DEFINE_CLEANUP(face_gallery)

struct face_match {
    size_t person;
    size_t picture;  /* the person's nearest one */
    double distance; /* mean Euclidean distance to the person's pictures */
};

/* The nearest persons, nearest first; returns how many, at most `max`. */
size_t face_gallery_nearest(const struct face_gallery *gallery, const float *embedding,
                            struct face_match *ret_matches, size_t max);

/* When a face is nobody's here, such that the part `rate` of strangers is taken for somebody of the
 * gallery; `model` is the one that the gallery was made with. */
struct face_threshold face_gallery_threshold(const struct face_gallery *gallery,
                                             const struct face_model *model, double rate);

/* How good the model is on these people: the share of pictures that, left out, are nearest to their
 * own person. Persons with a single picture do not count; -1 if nobody has two. */
double face_gallery_accuracy(const struct face_gallery *gallery);

#endif

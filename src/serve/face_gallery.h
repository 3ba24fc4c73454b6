/* The gallery: compares a face with pictures of known people. Each of their pictures is embedded
 * once, when the gallery is created. */
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

/* Finds up to `max` nearest persons, nearest first. Returns their number. */
size_t face_gallery_nearest(const struct face_gallery *gallery, const float *embedding,
                            struct face_match *ret_matches, size_t max);

/* Returns the distance above which a face belongs to no person of the gallery. With this threshold,
 * a fraction `rate` of strangers is accepted by mistake. `model` must be the model of
 * face_gallery_new(). */
struct face_threshold face_gallery_threshold(const struct face_gallery *gallery,
                                             const struct face_model *model, double rate);

/* Compares each picture with the gallery without this picture. Returns the fraction of pictures
 * whose nearest person is the right person. Ignores persons with a single picture. Returns -1 if no
 * person has two pictures. */
double face_gallery_accuracy(const struct face_gallery *gallery);

#endif

/* Compares a face with a gallery, which is a data set of known people. Each picture of the gallery
 * is embedded once, when the gallery is created. The upload page and `trainer predict` use it.
 * Functions that take a const gallery may be called on any thread. */
#ifndef TRAINYARD_SERVE_FACE_GALLERY_H
#define TRAINYARD_SERVE_FACE_GALLERY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "models/face/model.h"
#include "train/data/dataset.h"

#include <stddef.h>

struct face_gallery;

/* Embeds all pictures, which may take seconds. `people` must outlive the gallery. After this call
 * the gallery does not use the model. The caller frees *ret. */
int face_gallery_new(struct face_model *model, const struct dataset *people,
                     struct face_gallery **ret, struct err *err);
struct face_gallery *face_gallery_free(struct face_gallery *gallery); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_gallery)

struct face_match {
    size_t person;   /* index in the gallery */
    size_t picture;  /* index of the person's picture that is nearest to the face */
    double distance; /* mean Euclidean distance to the person's pictures */
};

/* Finds the `max` nearest persons, or all if there are fewer, nearest first. Returns the number of
 * matches. */
size_t face_gallery_nearest(const struct face_gallery *gallery, const float *embedding,
                            struct face_match *ret_matches, size_t max);

/* Returns the thresholds for the distance to the nearest person, such that a fraction `rate` of
 * strangers is recognised as a person of the gallery by mistake. `model` must be the model of
 * face_gallery_new(). */
struct face_threshold face_gallery_threshold(const struct face_gallery *gallery,
                                             const struct face_model *model, double rate);

/* Compares each picture with the gallery without this picture. Returns the fraction of pictures
 * whose nearest person is the right person. Pictures of persons with a single picture are not
 * tested. Returns -1 if no person has two pictures. */
double face_gallery_accuracy(const struct face_gallery *gallery);

#endif

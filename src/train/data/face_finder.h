/* Finding the face in a picture: a cascade (cascade.h) looks at windows of all sizes and places,
 * and windows that agree with each other are a face. Called for every picture of a data set that is
 * to be cut to its face, and for those sent to the page. Never changed after it was made, so
 * several threads may use one. */
#ifndef TRAINYARD_TRAIN_FACE_FINDER_H
#define TRAINYARD_TRAIN_FACE_FINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "train/data/picture.h"

#include <stddef.h>

/* Where Debian's package opencv-data puts it. */
#define FACE_FINDER_CASCADE "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"

struct face_finder;

/* From one file; if there is none, the message says which package has it. */
int face_finder_new(const char *cascade, struct face_finder **ret, struct err *err);
struct face_finder *face_finder_free(struct face_finder *finder); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_finder)

/* Returns the number of faces, at most FACE_FINDER_FACES_MAX; `*ret` is set where it is not 0. It
 * is the square of the face that most windows agree on, where larger ones count more; it may hang
 * over the edges. Faces of less than a fifth of the shorter side are not looked for: they are not
 * the subject of the picture. */
enum { FACE_FINDER_FACES_MAX = 16 };
size_t face_finder_find(const struct face_finder *finder, const struct picture *picture,
                        struct picture_square *ret);

#endif

/* Finds the face in a picture: a cascade (cascade.h) looks at windows of all sizes and positions,
 * and windows that agree with each other are a face. Called for every picture of a data set that is
 * cut to its face, and for uploaded pictures. A finder is immutable, so several threads may use it.
 */
#ifndef TRAINYARD_TRAIN_DATA_FACE_FINDER_H
#define TRAINYARD_TRAIN_DATA_FACE_FINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "train/data/picture.h"

#include <stddef.h>

/* The path in Debian's package opencv-data. */
#define FACE_FINDER_CASCADE "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"

struct face_finder;

/* Reads one cascade file. If it does not exist the error names the package that has it. */
int face_finder_new(const char *cascade, struct face_finder **ret, struct err *err);
struct face_finder *face_finder_free(struct face_finder *finder); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_finder)

/* Returns the number of faces, at most FACE_FINDER_FACES_MAX, and in *ret, if it is not 0, the
 * square of the most prominent face: the one that most windows agree on, where larger windows count
 * more. The square may extend over the edges. Faces smaller than a fifth of the shorter side are
 * not looked for: they are not the subject of the picture. */
enum { FACE_FINDER_FACES_MAX = 16 };
size_t face_finder_find(const struct face_finder *finder, const struct picture *picture,
                        struct picture_square *ret);

#endif

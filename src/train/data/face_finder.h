/* Finds the faces in a picture. A cascade (cascade.h) tests windows of many sizes and positions.
 * Several accepted windows at about the same place are a face. face_crop.c calls it for every
 * picture that is cropped to a face, and models/face/people.c to find out whether pictures are
 * photographs. A finder is immutable, so several threads may use it. */
#ifndef TRAINYARD_TRAIN_DATA_FACE_FINDER_H
#define TRAINYARD_TRAIN_DATA_FACE_FINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "train/data/picture.h"

#include <stddef.h>

/* The path at which Debian's package opencv-data installs the cascade of faces. */
#define FACE_FINDER_CASCADE "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"

struct face_finder;

/* Reads one cascade file. If the file does not exist, returns -ERR_NOT_FOUND, and the error names
 * the package that has it. Returns -ERR_UNSUPPORTED if the windows of the cascade are not square,
 * or another error of cascade_read(). The caller frees the finder. */
int face_finder_new(const char *cascade, struct face_finder **ret, struct err *err);
struct face_finder *face_finder_free(struct face_finder *finder); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_finder)

/* Returns the number of faces, at most FACE_FINDER_FACES_MAX. If there is a face, sets *ret to the
 * square of the most prominent one: the face whose accepted windows have the largest sum of sides.
 * The square may extend over the edges of the picture. The search ignores faces that are smaller
 * than a fifth of the shorter side, because they are not the subject of the picture. */
enum { FACE_FINDER_FACES_MAX = 16 };
size_t face_finder_find(const struct face_finder *finder, const struct picture *picture,
                        struct picture_square *ret);

#endif

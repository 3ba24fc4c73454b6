/* A cascade of weak classifiers, which decides whether a small window of a picture shows the object
 * that the cascade was trained for. face_finder.c uses it to find faces. This module reads the
 * files of Debian's package opencv-data, with a parser for the subset of XML in these files. A
 * feature is a sum over rectangles (Haar) or a comparison of eight cells with the cell in their
 * middle (local binary pattern). Both kinds need only a few reads of an integral image. The file is
 * untrusted, so all sizes have limits. A cascade is immutable, so several threads may use it. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_H
#define TRAINYARD_TRAIN_DATA_CASCADE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CASCADE_FILE_MAX = 4 << 20, /* bytes */
    CASCADE_WINDOW_MAX = 128,   /* pixels per side */
    CASCADE_PARTS_MAX = 65536   /* limit of each list: stages, trees, nodes, leaves, features */
};

struct cascade;

/* Reads a cascade from the text of a file. The caller frees the cascade. Returns -ERR_BAD_REQUEST
 * if the text is not a valid cascade, or -ERR_UNSUPPORTED if it has tilted features. */
int cascade_parse(const char *text, size_t size, struct cascade **ret, struct err *err);
/* Like cascade_parse(), but reads the file. Returns -ERR_NOT_FOUND if the file does not exist, or
 * -ERR_TOO_LARGE if it is larger than CASCADE_FILE_MAX. */
int cascade_read(const char *path, struct cascade **ret, struct err *err);
struct cascade *cascade_free(struct cascade *cascade); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade)

/* Sets *ret_width and *ret_height to the size of the windows that the cascade tests, in pixels. */
void cascade_window(const struct cascade *cascade, int *ret_width, int *ret_height);

/* Two integral images. Element (x, y) is the sum of the pixels, or of their squares, in the x left
 * columns of the y upper rows of the picture. Row 0 and column 0 are 0, so each array has one row
 * and one column more than the picture. */
struct cascade_sums {
    /* width and height of the picture in pixels; elements per row of both arrays */
    int width, height, stride;
    uint32_t *sums;
    uint64_t *squares;
};

/* The features of a cascade with their offsets in integral images of one stride. One plan serves
 * all pictures with that stride. The cascade must outlive the plan. The caller frees the plan. */
struct cascade_plan;
struct cascade_plan *cascade_plan_new(const struct cascade *cascade, int stride);
struct cascade_plan *cascade_plan_free(struct cascade_plan *plan); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade_plan)

/* Returns whether the window with the top left corner (x, y) passes all stages. A cascade of Haar
 * features also rejects windows with little contrast. The window must lie inside the picture, and
 * sums->stride must be the stride of the plan. */
bool cascade_accepts(const struct cascade_plan *plan, const struct cascade_sums *sums, int x,
                     int y);

#endif

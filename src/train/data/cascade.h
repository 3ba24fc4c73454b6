/* A cascade of weak classifiers that decides whether a small window of a picture shows the object
 * it was trained for. Reads the files of Debian's package opencv-data, with a parser for the subset
 * of XML that they use. Features are sums over rectangles (Haar) or comparisons of nine cells
 * (local binary patterns); both need a few reads of an integral image. The input is untrusted and
 * limited. A cascade is immutable, so several threads may use it. Used by face_finder.h. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_H
#define TRAINYARD_TRAIN_DATA_CASCADE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CASCADE_FILE_MAX = 4 << 20,
    CASCADE_WINDOW_MAX = 128, /* pixels per side */
    CASCADE_PARTS_MAX = 65536 /* limit for each of: stages, trees, nodes, leaves, features */
};

struct cascade;

int cascade_parse(const char *text, size_t size, struct cascade **ret, struct err *err);
int cascade_read(const char *path, struct cascade **ret, struct err *err);
struct cascade *cascade_free(struct cascade *cascade); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade)

void cascade_window(const struct cascade *cascade, int *ret_width, int *ret_height);

/* Integral images: sums of the pixels, and of their squares, over the rectangle from the top left
 * corner. One more row and column than pixels; the first of each is 0. */
struct cascade_sums {
    int width, height, stride; /* in pixels; stride: numbers from one row to the next */
    uint32_t *sums;
    uint64_t *squares;
};

/* The features with their offsets for one stride. Made once for all pictures with that stride. */
struct cascade_plan;
struct cascade_plan *cascade_plan_new(const struct cascade *cascade, int stride);
struct cascade_plan *cascade_plan_free(struct cascade_plan *plan); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade_plan)

/* Whether the window with this top left corner passes all stages. The window must lie inside the
 * picture. */
bool cascade_accepts(const struct cascade_plan *plan, const struct cascade_sums *sums, int x,
                     int y);

#endif

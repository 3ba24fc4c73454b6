/* A cascade of weak classifiers, which decides whether a small window of a picture shows the object
 * that the cascade was trained for. Reads the files of Debian's package opencv-data, with a parser
 * for the subset of XML in these files. Features are sums over rectangles (Haar) or comparisons of
 * eight cells with the cell between them (local binary patterns). Both need only a few reads of an
 * integral image. The file is untrusted, so all sizes have limits. A cascade is immutable, so
 * several threads may use it. Used by face_finder.h. */
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
    CASCADE_PARTS_MAX = 65536 /* limit of each list: stages, trees, nodes, leaves, features */
};

struct cascade;

int cascade_parse(const char *text, size_t size, struct cascade **ret, struct err *err);
int cascade_read(const char *path, struct cascade **ret, struct err *err);
struct cascade *cascade_free(struct cascade *cascade); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade)

void cascade_window(const struct cascade *cascade, int *ret_width, int *ret_height);

/* Two integral images. Element (x, y) is the sum of the pixels, or of their squares, in the x left
 * columns of the y upper rows of the picture. Row 0 and column 0 are 0, so there is one more row
 * and column than pixels. */
struct cascade_sums {
    int width, height, stride; /* size in pixels, and elements per row of both arrays */
    uint32_t *sums;
    uint64_t *squares;
};

/* The features of a cascade with their offsets for one stride. One plan serves all pictures with
 * that stride. The cascade must outlive the plan. */
struct cascade_plan;
struct cascade_plan *cascade_plan_new(const struct cascade *cascade, int stride);
struct cascade_plan *cascade_plan_free(struct cascade_plan *plan); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade_plan)

/* Returns whether the window with the top left corner (x, y) passes all stages. The window must lie
 * inside the picture. */
bool cascade_accepts(const struct cascade_plan *plan, const struct cascade_sums *sums, int x,
                     int y);

#endif

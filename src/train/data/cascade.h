/* A cascade of weak classifiers that says whether a small window of a picture shows what it was
 * trained for: the files of Debian's package opencv-data, read by a parser of its own for the part
 * of XML they use. Features are sums over rectangles (Haar) or comparisons of nine cells (local
 * binary patterns); both cost a few reads of an integral image. Read from untrusted bytes, within
 * limits; never changed afterwards, so several threads may use one. Used by face_finder.h. */
#ifndef TRAINYARD_TRAIN_CASCADE_H
#define TRAINYARD_TRAIN_CASCADE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CASCADE_FILE_MAX = 4 << 20,
    CASCADE_WINDOW_MAX = 128, /* pixels each way */
    CASCADE_PARTS_MAX = 65536 /* stages, trees, nodes, leaves and features: of each */
};

struct cascade;

int cascade_parse(const char *text, size_t size, struct cascade **ret, struct err *err);
int cascade_read(const char *path, struct cascade **ret, struct err *err);
struct cascade *cascade_free(struct cascade *cascade); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade)

void cascade_window(const struct cascade *cascade, int *ret_width, int *ret_height);

/* Sums of a grey picture over the rectangle from its corner: one row and one column more than
 * pixels, the first of each 0; the same of the squares of the pixels. */
struct cascade_sums {
    int width, height, stride; /* pixels; numbers from row to row */
    uint32_t *sums;
    uint64_t *squares;
};

/* The features with their places in sums of one stride: made once for all pictures of it. */
struct cascade_plan;
struct cascade_plan *cascade_plan_new(const struct cascade *cascade, int stride);
struct cascade_plan *cascade_plan_free(struct cascade_plan *plan); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(cascade_plan)

/* Whether the window with this corner, which must lie inside, passes all stages. */
bool cascade_accepts(const struct cascade_plan *plan, const struct cascade_sums *sums, int x,
                     int y);

#endif

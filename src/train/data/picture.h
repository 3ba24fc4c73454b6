/* Decodes untrusted pictures in PGM, PPM, PNG, JPEG and WebP into 8-bit pixels, within limits. Any
 * other file is an error. Also crops and scales pictures, and writes PNG. Data sets, the upload
 * page, `trainer predict` and the data commands use it. */
#ifndef TRAINYARD_TRAIN_DATA_PICTURE_H
#define TRAINYARD_TRAIN_DATA_PICTURE_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PICTURE_FILE_MAX = 16 * 1024 * 1024,   /* bytes per file */
    PICTURE_SIDE_MAX = 8192,               /* pixels per side */
    PICTURE_PIXELS_MAX = 32 * 1024 * 1024, /* pixels per picture, which limits the memory */
};

struct picture {
    size_t width, height;
    /* 1: grey, 3: RGB. A transparent PNG is drawn on white. The transparency of WebP is ignored. */
    size_t channels;
    uint8_t *pixels; /* [height][width][channels], malloc'ed */
};

void picture_release(struct picture *picture); /* safe on zeroed memory */

enum picture_format {
    PICTURE_UNKNOWN,
    PICTURE_PNM, /* PGM and PPM */
    PICTURE_PNG,
    PICTURE_JPEG,
    PICTURE_WEBP,
    PICTURE_FORMATS /* number of formats */
};
/* Returns "PNG", for example. */
const char *picture_format_name(enum picture_format format);

/* Detects the format from the first bytes, not from a name. */
enum picture_format picture_format(const void *data, size_t size);
/* Decodes a complete file. The caller releases *ret. Returns -ERR_MEDIA_TYPE for an unknown format,
 * -ERR_TOO_LARGE beyond the limits above, -ERR_UNSUPPORTED for a variant of a format that is not
 * supported, or -ERR_BAD_REQUEST for an empty picture or a damaged file. Damage in a JPEG with
 * which libjpeg can continue is no error. */
int picture_decode(const void *data, size_t size, struct picture *ret, struct err *err);
/* Like picture_decode(), but reads the file. Returns -ERR_NOT_FOUND if the file does not exist. */
int picture_read(const char *path, struct picture *ret, struct err *err);

/* A square part of a picture, in pixels; (x, y) is its upper left corner. If the square extends
 * over the edges of the picture, the pixels at the edge are repeated. */
struct picture_square {
    double x, y, side;
};

/* Returns the largest square inside the picture, at its centre. */
struct picture_square picture_middle(const struct picture *picture);
/* Returns the smallest square around the whole picture. */
struct picture_square picture_around(const struct picture *picture);

/* Crops a picture to a square and scales it to side × side pixels with 1 or 3 channels. Each target
 * pixel is the mean of the area that it covers. */
void picture_cut_bytes(const struct picture *picture, const struct picture_square *square,
                       size_t side, size_t channels, uint8_t *ret_pixels);
/* Like picture_cut_bytes(), but sets floats in [0, 1]. */
void picture_cut(const struct picture *picture, const struct picture_square *square, size_t side,
                 size_t channels, float *ret_pixels);

/* Appends a PNG file of the pixels, with 1 or 3 channels, to `buf`. Returns -ERR_TOO_LARGE if the
 * buffer would exceed its maximum, or -ERR_INTERNAL if libpng fails. */
int picture_encode_png(const uint8_t *pixels, size_t width, size_t height, size_t channels,
                       struct buf *buf, struct err *err);

#endif

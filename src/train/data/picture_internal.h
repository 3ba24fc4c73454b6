/* The decoders of pictures, one file per format. Only picture_decode() calls them. Before the call,
 * picture_decode() checks that `data` starts with the signature of the format. If a decoder fails,
 * picture_decode() releases *ret. */
#ifndef TRAINYARD_TRAIN_DATA_PICTURE_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_PICTURE_INTERNAL_H

#include "train/data/picture.h"

int picture_decode_pnm(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_png(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_jpeg(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_webp(const uint8_t *data, size_t size, struct picture *ret, struct err *err);

/* Checks the size that the header of a file claims, and allocates zeroed pixels. Decoders must not
 * allocate memory for pixels before this check has succeeded. Returns -ERR_BAD_REQUEST for an empty
 * picture, or -ERR_TOO_LARGE beyond the limits. */
int picture_allocate(struct picture *picture, size_t width, size_t height, size_t channels,
                     struct err *err);

#endif

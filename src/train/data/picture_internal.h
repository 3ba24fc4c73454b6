/* The picture decoders, one file per format. `data` starts with the signature of the format. */
#ifndef TRAINYARD_TRAIN_DATA_PICTURE_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_PICTURE_INTERNAL_H

#include "train/data/picture.h"

int picture_decode_pnm(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_png(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_jpeg(const uint8_t *data, size_t size, struct picture *ret, struct err *err);
int picture_decode_webp(const uint8_t *data, size_t size, struct picture *ret, struct err *err);

/* Checks the size that the header of a file claims, and allocates the pixels. Decoders must not
 * allocate memory for pixels before this check has succeeded. */
int picture_allocate(struct picture *picture, size_t width, size_t height, size_t channels,
                     struct err *err);

#endif

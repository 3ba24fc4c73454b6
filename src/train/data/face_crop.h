/* Chooses the square part of a picture that is the input of a face model. Training, prediction,
 * serving and the data commands call it. Every use of a model must crop pictures in the same way as
 * its training, so the configuration of the model has the choice. */
#ifndef TRAINYARD_TRAIN_DATA_FACE_CROP_H
#define TRAINYARD_TRAIN_DATA_FACE_CROP_H

#include "train/data/face_finder.h"

enum face_crop {
    FACE_CROP_OFF,     /* the centre square */
    FACE_CROP_AUTO,    /* the face, or the centre square if no face is found */
    FACE_CROP_CASCADE, /* the face; a picture without a face cannot be used */
    FACE_CROP_WHOLE,   /* the whole picture, extended to a square */
};

/* The names of the option --crop: "off", "auto", "cascade" and "whole". An unknown name is
 * -ERR_INVALID. */
const char *face_crop_name(enum face_crop crop);
int face_crop_from_name(const char *name, enum face_crop *ret, struct err *err);

/* Opens the face finder that *crop needs. The caller frees the finder. If *crop needs no faces,
 * returns 0 and does not change *ret.
 *
 * If the file of the cascade does not exist, FACE_CROP_CASCADE fails with -ERR_NOT_FOUND.
 * FACE_CROP_AUTO does not fail then: it is changed to FACE_CROP_OFF, `err` has the reason, *ret is
 * not changed, and 0 is returned. */
int face_crop_open(enum face_crop *crop, struct face_finder **ret, struct err *err);

/* Sets the error for a picture without a face. Returns -ERR_INVALID. */
int face_crop_no_face(struct err *err);

/* Sets *ret to the square to which the picture is cropped. The square of a face includes a margin.
 * Returns -ERR_INVALID if `crop` is FACE_CROP_CASCADE and no face is found. Also on failure, sets
 * *ret_faces to the number of faces found, which is 0 if `crop` needs no faces. ret_faces may be
 * NULL. `finder` may be NULL if `crop` needs no faces. */
int face_crop_choose(enum face_crop crop, const struct face_finder *finder,
                     const struct picture *picture, struct picture_square *ret, size_t *ret_faces,
                     struct err *err);

#endif

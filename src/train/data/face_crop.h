/* Chooses the square part of a picture that is the input of a face model. Every later use of a
 * model must crop pictures in the same way as its training, so the choice is stored in the model's
 * configuration. */
#ifndef TRAINYARD_TRAIN_DATA_FACE_CROP_H
#define TRAINYARD_TRAIN_DATA_FACE_CROP_H

#include "train/data/face_finder.h"

enum face_crop {
    FACE_CROP_OFF,     /* the centre square */
    FACE_CROP_AUTO,    /* the face, or the centre square if no face is found */
    FACE_CROP_CASCADE, /* the face; a picture without a face is not used */
    FACE_CROP_WHOLE,   /* the whole picture, extended to a square */
};

const char *face_crop_name(enum face_crop crop);
int face_crop_from_name(const char *name, enum face_crop *ret, struct err *err);

/* Sets *ret to a finder, or leaves it unchanged if *crop needs no faces. If the file of the cascade
 * does not exist, FACE_CROP_CASCADE fails, and FACE_CROP_AUTO is changed to FACE_CROP_OFF: then
 * `err` has the reason, 0 is returned and *ret is unchanged. The caller frees the finder. */
int face_crop_open(enum face_crop *crop, struct face_finder **ret, struct err *err);

/* Sets the error for a picture without a face. Returns -ERR_INVALID. */
int face_crop_no_face(struct err *err);

/* Sets *ret to the square to which the picture is cropped. The square of a face has a margin around
 * it. Returns -ERR_INVALID if FACE_CROP_CASCADE finds no face. Sets *ret_faces to the number of
 * faces found, on failure, too, or to 0 if `crop` needs no faces. ret_faces may be NULL. */
int face_crop_choose(enum face_crop crop, const struct face_finder *finder,
                     const struct picture *picture, struct picture_square *ret, size_t *ret_faces,
                     struct err *err);

#endif

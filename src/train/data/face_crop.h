/* The part of a picture that a face model sees. Training chooses it, and every later use of the
 * model must cut pictures the same way; therefore the model's configuration keeps the choice. */
#ifndef TRAINYARD_TRAIN_DATA_FACE_CROP_H
#define TRAINYARD_TRAIN_DATA_FACE_CROP_H

#include "train/data/face_finder.h"

enum face_crop {
    FACE_CROP_OFF,     /* the centre square */
    FACE_CROP_AUTO,    /* the face, or the centre square if no face is found */
    FACE_CROP_CASCADE, /* the face; a picture without a face is not used */
    FACE_CROP_WHOLE,   /* the whole picture: the square around it */
};

const char *face_crop_name(enum face_crop crop);
int face_crop_from_name(const char *name, enum face_crop *ret, struct err *err);

/* Opens the finder for this choice; NULL if no face has to be found. If the cascade is not
 * installed, FACE_CROP_CASCADE fails, and FACE_CROP_AUTO becomes FACE_CROP_OFF: then 0 is returned
 * and `err` has the reason. */
int face_crop_open(enum face_crop *crop, struct face_finder **ret, struct err *err);

/* Sets the error for a picture without a face. Returns -ERR_INVALID. */
int face_crop_no_face(struct err *err);

/* Returns the square to cut out, with a margin around the face. Returns -ERR_INVALID if
 * FACE_CROP_CASCADE finds no face. *ret_faces, which may be NULL, is the number of faces found; the
 * square shows the most prominent. It is 0 if no face is looked for. It is set on failure, too. */
int face_crop_choose(enum face_crop crop, const struct face_finder *finder,
                     const struct picture *picture, struct picture_square *ret, size_t *ret_faces,
                     struct err *err);

#endif

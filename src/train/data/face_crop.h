/* Which part of a picture is the face: how training cut its pictures, and how everybody who uses
 * the model afterwards must. The choice is kept in the model's configuration. */
#ifndef TRAINYARD_TRAIN_FACE_CROP_H
#define TRAINYARD_TRAIN_FACE_CROP_H

#include "train/data/face_finder.h"

enum face_crop {
    FACE_CROP_OFF,     /* the middle square */
    FACE_CROP_AUTO,    /* the face, or the middle square where none is found */
    FACE_CROP_CASCADE, /* the face; a picture without one is not used */
    FACE_CROP_WHOLE,   /* all of the picture: the square around it */
};

const char *face_crop_name(enum face_crop crop);
int face_crop_from_name(const char *name, enum face_crop *ret, struct err *err);

/* The finder for this choice; none is needed where no face is looked for. Where the cascade is not
 * installed
 * `*crop` becomes FACE_CROP_OFF instead of FACE_CROP_AUTO, and `err` says why though the result is
 * 0; FACE_CROP_CASCADE fails. */
int face_crop_open(enum face_crop *crop, struct face_finder **ret, struct err *err);

/* The sentence for a picture without a face. Returns -ERR_INVALID. */
int face_crop_no_face(struct err *err);

/* The square to cut, with a margin around the face. Without a face FACE_CROP_CASCADE is
 * ERR_INVALID.
 * `*ret_faces`, which may be NULL, is the number of faces that were found, of which the square
 * shows the most prominent one; 0 where none is looked for. It is set on failure, too. */
int face_crop_choose(enum face_crop crop, const struct face_finder *finder,
                     const struct picture *picture, struct picture_square *ret, size_t *ret_faces,
                     struct err *err);

#endif

/* Implements the choice of the part of a picture for a face model; see face_crop.h. */
#include "train/data/face_crop.h"

#include "base/mem.h"
#include "base/str.h"

/* The margin that is added to the square of the face finder, because that square reaches only from
 * the eyebrows to the chin. */
#define MARGIN 0.1 /* on each edge, as a fraction of the square's side */

static const char *const NAMES[] = {"off", "auto", "cascade", "whole"};

const char *face_crop_name(enum face_crop crop)
{
    return NAMES[crop];
}

int face_crop_from_name(const char *name, enum face_crop *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (str_eq(name, NAMES[i])) {
            *ret = (enum face_crop)i;
            return 0;
        }
    return err_set(err, ERR_INVALID, "unknown crop '%s': use auto, cascade, whole or off", name);
}

static bool crop_needs_faces(enum face_crop crop)
{
    return crop == FACE_CROP_AUTO || crop == FACE_CROP_CASCADE;
}

int face_crop_open(enum face_crop *crop, struct face_finder **ret, struct err *err)
{
    if (!crop_needs_faces(*crop))
        return 0;
    int result = face_finder_new(FACE_FINDER_CASCADE, ret, err);
    if (result != -ERR_NOT_FOUND || *crop == FACE_CROP_CASCADE)
        return result;
    *crop = FACE_CROP_OFF;
    return 0;
}

int face_crop_no_face(struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "no face was found on this picture: it must be seen from the front, and take "
                   "up at least a fifth of the picture");
}

int face_crop_choose(enum face_crop crop, const struct face_finder *finder,
                     const struct picture *picture, struct picture_square *ret, size_t *ret_faces,
                     struct err *err)
{
    size_t faces = crop_needs_faces(crop) ? face_finder_find(finder, picture, ret) : 0;
    if (ret_faces)
        *ret_faces = faces;
    if (faces) {
        ret->x -= MARGIN * ret->side;
        ret->y -= MARGIN * ret->side;
        ret->side *= 1 + 2 * MARGIN;
        return 0;
    }
    if (crop == FACE_CROP_CASCADE)
        return face_crop_no_face(err);
    *ret = crop == FACE_CROP_WHOLE ? picture_around(picture) : picture_middle(picture);
    return 0;
}

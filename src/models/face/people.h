/* Opens the people that a command trains on, evaluates or shows. The people are generated, or come
 * from a folder with one subfolder per person. Each picture is searched for a face once and cropped
 * to it. Pictures that cannot be used are listed on standard error. */
#ifndef TRAINYARD_MODELS_FACE_PEOPLE_H
#define TRAINYARD_MODELS_FACE_PEOPLE_H

#include "base/options/options.h"
#include "train/data/dataset_survey.h"

/* How pictures are cropped, as an option or the configuration of a model says. */
struct people_crop {
    enum face_crop crop;
    struct face_finder *finder; /* NULL if no face has to be found */
};

/* Opens the face finder if `crop` needs one. If `crop` is FACE_CROP_AUTO and the file of the face
 * finder is not installed, prints a warning on standard error and uses FACE_CROP_OFF instead. */
int people_crop_open(enum face_crop crop, struct people_crop *ret, struct err *err);
void people_crop_release(struct people_crop *crop); /* safe on zeroed memory */

/* Opens a folder of people. The caller frees the data set. */
int people_open(const char *folder, const struct people_crop *crop, int threads,
                struct dataset **ret, struct err *err);

/* Like people_open(), but also accepts pictures that lie directly in the folder. */
int people_open_any(const char *folder, const struct people_crop *crop, int threads,
                    struct dataset **ret, struct err *err);

/* Opens training data. If crop->crop is FACE_CROP_AUTO and fewer than three quarters of the
 * pictures show a face, crop->crop becomes FACE_CROP_OFF. Without this rule the training data would
 * mix pictures cropped to a face with other pictures. */
int people_open_training(const char *folder, struct people_crop *crop, int threads,
                         struct dataset **ret, struct err *err);

/* Returns whether a face is found on at least three quarters of the pictures. If there are many
 * pictures, only a sample is searched. */
bool people_are_photographs(const struct dataset *people, const struct face_finder *finder);

/* Opens the data that --data names. "procedural" generates people from the seed, and their pictures
 * are not cropped. Any other value is a folder. */
int people_open_data(const char *data, const struct people_crop *crop, int threads, uint64_t seed,
                     int64_t persons, int64_t pictures, struct dataset **ret, struct err *err);
bool people_are_drawn(const char *data);

#define PEOPLE_CROP_OPTION(field, instead)                                                         \
    {                                                                                              \
        .name = "crop", .type = OPTION_CHOICE, .offset = (field), .fallback = (instead),           \
        .choices = "auto|cascade|whole|off", .value = "HOW",                                       \
        .help =                                                                                    \
            "how pictures are cut: auto: to the face where one is found; cascade: to the face, "   \
            "without pictures that show none; whole: not at all; off: to the centre square"        \
    }

#endif

/* Opens the pictures of people with which a command of `trainer` trains, evaluates, recognises or
 * converts. The people are generated, or come from a folder with one subfolder per person. All
 * pictures of a folder are decoded once, and their faces are found if the crop needs them. Pictures
 * that cannot be used are left out and reported on standard error. Called at the start of a
 * command, never from a pool thread or while training. */
#ifndef TRAINYARD_MODELS_FACE_PEOPLE_H
#define TRAINYARD_MODELS_FACE_PEOPLE_H

#include "base/options/options.h"
#include "train/data/dataset_survey.h"

/* The way in which pictures are cropped: the value of --crop, or of a model's configuration. */
struct people_crop {
    enum face_crop crop;
    struct face_finder *finder; /* NULL if `crop` needs no faces */
};

/* Opens the face finder if `crop` needs one. If `crop` is FACE_CROP_AUTO and the file of the face
 * finder is not installed, prints a warning on standard error and uses FACE_CROP_OFF instead. */
int people_crop_open(enum face_crop crop, struct people_crop *ret, struct err *err);
void people_crop_release(struct people_crop *crop); /* safe on zeroed memory */

/* Opens a folder of people and examines its pictures with `threads` threads. Returns the errors of
 * dataset_open_folder() and dataset_survey_run(). The caller frees *ret. */
int people_open(const char *folder, const struct people_crop *crop, int threads,
                struct dataset **ret, struct err *err);

/* Like people_open(), but also accepts a folder whose pictures are not in subfolders. They then
 * count as the pictures of one person. */
int people_open_any(const char *folder, const struct people_crop *crop, int threads,
                    struct dataset **ret, struct err *err);

/* Like people_open(), for training data. If crop->crop is FACE_CROP_AUTO and fewer than three
 * quarters of the pictures show a face, crop->crop becomes FACE_CROP_OFF. Without this rule the
 * training data would mix pictures cropped to a face with other pictures. */
int people_open_training(const char *folder, struct people_crop *crop, int threads,
                         struct dataset **ret, struct err *err);

/* Returns whether a face is found on at least three quarters of the pictures. Reads at most 64 of
 * them, spread evenly. Returns false if `finder` is NULL. The people must come from a folder. */
bool people_are_photographs(const struct dataset *people, const struct face_finder *finder);

/* Opens the data that --data names. "procedural" generates `persons` persons with `pictures`
 * pictures each from the seed; their pictures are not cropped. Any other value is a folder for
 * people_open(). */
int people_open_data(const char *data, const struct people_crop *crop, int threads, uint64_t seed,
                     int64_t persons, int64_t pictures, struct dataset **ret, struct err *err);
/* Returns whether --data asks for generated people. */
bool people_are_drawn(const char *data);

/* The row of --crop in an option table. `value_offset` is the offset of its value in the struct of
 * the option values. */
#define PEOPLE_CROP_OPTION(value_offset, default_value)                                            \
    {                                                                                              \
        .name = "crop", .type = OPTION_CHOICE, .offset = (value_offset),                           \
        .fallback = (default_value), .choices = "auto|cascade|whole|off", .value = "HOW",          \
        .help =                                                                                    \
            "how pictures are cut: auto: to the face where one is found; cascade: to the face, "   \
            "without pictures that show none; whole: not at all; off: to the centre square"        \
    }

#endif

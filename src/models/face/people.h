/* The people that a command trains on, evaluates or shows: a folder with one subfolder per person,
 * or drawn people. Pictures are looked at once and cut to their faces. Pictures that cannot be used
 * are named on standard error. */
#ifndef TRAINYARD_MODELS_FACE_PEOPLE_H
#define TRAINYARD_MODELS_FACE_PEOPLE_H

#include "base/options/options.h"
#include "train/data/dataset_survey.h"

/* How pictures are cut, from an option or from the configuration of a model. */
struct people_crop {
    enum face_crop crop;
    struct face_finder *finder; /* NULL if no face has to be found */
};

/* If the cascade is not installed, FACE_CROP_AUTO goes on without it, with a warning on standard
 * error. */
int people_crop_open(enum face_crop crop, struct people_crop *ret, struct err *err);
void people_crop_release(struct people_crop *crop); /* safe on zeroed memory */

/* Opens a folder of people. The caller frees the data set. */
int people_open(const char *folder, const struct people_crop *crop, int threads,
                struct dataset **ret, struct err *err);

/* Like people_open(), but also accepts pictures that lie directly in the folder. */
int people_open_any(const char *folder, const struct people_crop *crop, int threads,
                    struct dataset **ret, struct err *err);

/* Opens training data. With FACE_CROP_AUTO, a folder in which fewer than three of four pictures
 * show a face does not hold photographs of faces, and *crop becomes FACE_CROP_OFF: pictures cut to
 * the face and pictures that are not would be two kinds of data. */
int people_open_training(const char *folder, struct people_crop *crop, int threads,
                         struct dataset **ret, struct err *err);

/* Whether these are photographs of faces: a face is found on at least three of four pictures. A
 * sample of many pictures is looked at. */
bool people_are_photographs(const struct dataset *people, const struct face_finder *finder);

/* Opens the data of --data: "procedural" draws people from the seed, which are not cut; anything
 * else is a folder. */
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

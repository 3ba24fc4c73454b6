/* The people that a command trains on, judges or shows: a folder of folders or drawn ones, looked
 * at once and cut to their faces, with a word about what cannot be used. */
#ifndef TRAINYARD_CLI_TRAINER_PEOPLE_H
#define TRAINYARD_CLI_TRAINER_PEOPLE_H

#include "base/options/options.h"
#include "train/data/dataset_survey.h"

/* How pictures are cut. Made from an option, or from what a model says of itself. */
struct people_crop {
    enum face_crop crop;
    struct face_finder *finder; /* NULL where no face is looked for */
};

/* Where the cascade is not installed, FACE_CROP_AUTO goes on without it, with a word on standard
 * error. */
int people_crop_open(enum face_crop crop, struct people_crop *ret, struct err *err);
void people_crop_release(struct people_crop *crop); /* safe on zeroed memory */

/* A folder of people; what cannot be used is named on standard error. */
int people_open(const char *folder, const struct people_crop *crop, int threads,
                struct dataset **ret, struct err *err);

/* The same, but pictures that lie in the folder themselves will do, too. */
int people_open_any(const char *folder, const struct people_crop *crop, int threads,
                    struct dataset **ret, struct err *err);

/* What is to be trained on: with FACE_CROP_AUTO a folder where faces are found on fewer than three
 * pictures of four does not hold photographs of faces, and `*crop` becomes FACE_CROP_OFF. Half of
 * them cut to the face and half not would be two kinds of pictures. */
int people_open_training(const char *folder, struct people_crop *crop, int threads,
                         struct dataset **ret, struct err *err);

/* Whether these are photographs of faces: one is found on three pictures of four at least. Of many
 * pictures some are looked at. */
bool people_are_photographs(const struct dataset *people, const struct face_finder *finder);

/* --data: "procedural" draws people from the seed, which are not cut; anything else is a folder. */
int people_open_data(const char *data, const struct people_crop *crop, int threads, uint64_t seed,
                     int64_t persons, int64_t pictures, struct dataset **ret, struct err *err);
bool people_are_drawn(const char *data);

#define PEOPLE_CROP_OPTION(field, instead)                                                         \
    {                                                                                              \
        .name = "crop", .type = OPTION_CHOICE, .offset = (field), .fallback = (instead),           \
        .choices = "auto|cascade|whole|off", .value = "HOW",                                       \
        .help = "cut pictures to the face where one is found; cascade: leave out those without a " \
                "face; whole: do not cut; off: cut to their middle"                                \
    }

#endif

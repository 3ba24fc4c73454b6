/* Decodes every picture of a data set once, before the data set is used, and finds the faces.
 * Leaves out pictures that cannot be used, and reports them. The result depends only on the files
 * and on `crop`, so every worker leaves out the same pictures. Called through models/face/people.h,
 * from one thread, right after a folder was opened. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_SURVEY_H
#define TRAINYARD_TRAIN_DATA_DATASET_SURVEY_H

#include "train/data/dataset.h"
#include "train/data/face_crop.h"

enum {
    DATASET_SURVEY_NAMED = 3, /* number of pictures whose errors are kept */
    DATASET_SURVEY_THREADS_MAX = 64
};

struct dataset_survey_options {
    enum face_crop crop;
    const struct face_finder *finder; /* from face_crop_open(); NULL if `crop` needs no faces */
    int threads;                      /* number of threads that examine pictures, at least 1 */
};

struct dataset_survey {
    size_t pictures;         /* number of pictures examined */
    size_t left_out;         /* number of pictures that cannot be used */
    size_t faces;            /* number of pictures with a face; 0 if `crop` needs no faces */
    size_t persons_left_out; /* number of persons without a usable picture */
    /* path and error of the first pictures that were left out */
    char *reasons[DATASET_SURVEY_NAMED];
    size_t named; /* number of elements in `reasons` */
};

/* Examines all pictures and removes those that cannot be used. Generated pictures need no survey
 * and are not examined. The caller releases *ret. Returns -ERR_INVALID if no picture is left; the
 * data set is empty then. Must run only once per data set. */
int dataset_survey_run(struct dataset *dataset, const struct dataset_survey_options *options,
                       struct dataset_survey *ret, struct err *err);
void dataset_survey_release(struct dataset_survey *survey); /* safe on zeroed memory */

/* Discards the squares that the survey has stored. After this call dataset_load() crops every
 * picture to its centre square. */
void dataset_survey_forget_faces(struct dataset *dataset);

/* Writes "2 of 400 pictures cannot be used and are left out: …", or an empty text if no picture is
 * left out. */
void dataset_survey_sentence(const struct dataset_survey *survey, char *text, size_t size);

#endif

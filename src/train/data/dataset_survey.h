/* Looking at every picture of a data set once, before it is used: those that cannot be decoded are
 * left out, counted and named, and the face of each is found. Which are left out depends on the
 * files alone, so every worker leaves out the same. Called right after a folder was opened, by one
 * thread, by training, judging and serving alike. */
#ifndef TRAINYARD_TRAIN_DATASET_SURVEY_H
#define TRAINYARD_TRAIN_DATASET_SURVEY_H

#include "train/data/dataset.h"
#include "train/data/face_crop.h"

enum { DATASET_SURVEY_NAMED = 3, DATASET_SURVEY_THREADS_MAX = 64 };

struct dataset_survey_options {
    enum face_crop crop;
    const struct face_finder *finder; /* as face_crop_open() gave it */
    int threads;                      /* at least 1 */
};

struct dataset_survey {
    size_t pictures; /* looked at */
    size_t left_out; /* of them */
    size_t faces;    /* found */
    size_t persons_left_out;
    char *reasons[DATASET_SURVEY_NAMED]; /* of the first that were left out, with their names */
    size_t named;
};

/* Drawn pictures are not looked at. A data set of which nothing is left is ERR_INVALID. */
int dataset_survey_run(struct dataset *dataset, const struct dataset_survey_options *options,
                       struct dataset_survey *ret, struct err *err);
void dataset_survey_release(struct dataset_survey *survey); /* safe on zeroed memory */

/* Forget where the faces are: every picture is cut to its middle again. */
void dataset_survey_forget_faces(struct dataset *dataset);

/* "2 of 400 pictures are left out: …"; empty where none is. */
void dataset_survey_sentence(const struct dataset_survey *survey, char *text, size_t size);

#endif

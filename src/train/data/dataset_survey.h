/* Decodes every picture of a data set once, before the data set is used, and finds the faces.
 * Pictures that cannot be used are left out and reported. The result depends only on the files and
 * on `crop`, so every worker leaves out the same pictures. Training, evaluation and serving call it
 * from one thread, right after a folder was opened. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_SURVEY_H
#define TRAINYARD_TRAIN_DATA_DATASET_SURVEY_H

#include "train/data/dataset.h"
#include "train/data/face_crop.h"

enum { DATASET_SURVEY_NAMED = 3, DATASET_SURVEY_THREADS_MAX = 64 };

struct dataset_survey_options {
    enum face_crop crop;
    const struct face_finder *finder; /* from face_crop_open(); NULL if `crop` needs no faces */
    int threads;                      /* at least 1 */
};

struct dataset_survey {
    size_t pictures; /* number of pictures examined */
    size_t left_out; /* number of pictures that cannot be used */
    size_t faces;    /* number of pictures on which a face was found */
    size_t persons_left_out;
    /* for the first pictures that were left out: the path and the reason */
    char *reasons[DATASET_SURVEY_NAMED];
    size_t named;
};

/* Does not examine generated pictures, which need no survey. Returns -ERR_INVALID if no picture is
 * left. */
int dataset_survey_run(struct dataset *dataset, const struct dataset_survey_options *options,
                       struct dataset_survey *ret, struct err *err);
void dataset_survey_release(struct dataset_survey *survey); /* safe on zeroed memory */

/* Discards the square around the face that the survey has stored for each picture. After this call
 * dataset_load() crops every picture to its centre square. */
void dataset_survey_forget_faces(struct dataset *dataset);

/* Writes "2 of 400 pictures cannot be used and are left out: …", or an empty text if no picture is
 * left out. */
void dataset_survey_sentence(const struct dataset_survey *survey, char *text, size_t size);

#endif

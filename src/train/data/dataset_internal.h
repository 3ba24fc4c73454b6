/* The contents of a data set, for dataset.c, dataset_digest.c and dataset_survey.c. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H

#include "train/data/dataset.h"
#include "train/data/picture.h"

struct person {
    char *name;
    char **files; /* paths of the pictures; NULL: the pictures are generated */
    size_t count; /* number of pictures */
    /* one square per picture, to which it is cropped; NULL: each is cropped to its centre square */
    struct picture_square *squares;
};

struct dataset {
    struct person *persons;
    size_t count; /* number of persons */
    size_t total; /* number of pictures of all persons */
    bool generated;
    uint64_t seed; /* of generated pictures */
};

#endif

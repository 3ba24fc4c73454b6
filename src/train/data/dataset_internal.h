/* The struct of a data set, for dataset.c, dataset_digest.c and dataset_survey.c. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H

#include "train/data/dataset.h"
#include "train/data/picture.h"

struct person {
    char *name;
    char **files; /* paths of the pictures; NULL if they are generated */
    size_t count;
    /* the square to which each picture is cropped; NULL: the centre square */
    struct picture_square *squares;
};

struct dataset {
    struct person *persons;
    size_t count;
    size_t total;
    bool drawn;
    uint64_t seed;
};

#endif

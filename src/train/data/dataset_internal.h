/* The inside of a data set: dataset.c opens it and draws batches, dataset_survey.c looks at every
 * picture once. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_DATASET_INTERNAL_H

#include "train/data/dataset.h"
#include "train/data/picture.h"

struct person {
    char *name;
    char **files; /* NULL if the pictures are drawn */
    size_t count;
    /* the part of each picture to cut out; NULL: its centre square */
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

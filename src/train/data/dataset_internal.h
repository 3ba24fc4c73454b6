/* What a data set is made of: dataset.c opens and draws, dataset_survey.c looks at every picture
 * once. */
#ifndef TRAINYARD_TRAIN_DATASET_INTERNAL_H
#define TRAINYARD_TRAIN_DATASET_INTERNAL_H

#include "train/data/dataset.h"
#include "train/data/picture.h"

struct person {
    char *name;
    char **files; /* NULL where the pictures are drawn */
    size_t count;
    struct picture_square *squares; /* to cut, one a picture; NULL: the middle of each */
};

struct dataset {
    struct person *persons;
    size_t count;
    size_t total;
    bool drawn;
    uint64_t seed;
};

#endif

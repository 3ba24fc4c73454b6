/* Which pictures make up the batch of a step. Part of its people may be blends: each picture of one
 * person laid over a picture of another, always in the same proportion and reshaped alike, which
 * makes a person who does not exist. A data set of few people has many pairs of them, so that a
 * model learns to tell people apart and not to know these. Everything depends on seed and step
 * alone, so N workers see what one would see. */
#ifndef TRAINYARD_MODELS_FACE_BATCH_H
#define TRAINYARD_MODELS_FACE_BATCH_H

#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_batch_entry {
    struct dataset_sample sample;
    struct dataset_sample other; /* laid over it */
    float part;                  /* of the other: 0 is the sample alone */
    struct augment_shape shape;  /* of a blend */
    int label;                   /* of the person, who may not exist */
};

struct face_batch_options {
    uint64_t seed;
    size_t persons, pictures; /* of the batch, and of each person in it */
    size_t blended;           /* of the persons */
    float reshape;            /* how much a blend is reshaped at most, in parts of the side */
};

/* persons · pictures entries, person by person. */
int face_batch_draw(const struct dataset *dataset, const struct dataset_persons_list *from,
                    const struct face_batch_options *options, uint64_t step,
                    struct face_batch_entry *ret_entries, struct err *err);

#endif

/* The pictures in the batch of a step. Some of its people may be blends: each picture of one person
 * is laid over a picture of another, always in the same proportion and reshaped in the same way,
 * which makes a person who does not exist. A data set of few people has many pairs, so the model
 * learns to tell people apart instead of memorising these. Everything depends only on seed and
 * step, so N workers see what one would see. */
#ifndef TRAINYARD_MODELS_FACE_BATCH_H
#define TRAINYARD_MODELS_FACE_BATCH_H

#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_batch_entry {
    struct dataset_sample sample;
    struct dataset_sample other; /* laid over the sample */
    float part;                  /* weight of the other picture; 0: the sample alone */
    struct augment_shape shape;  /* the reshaping of a blend */
    int label;                   /* of the person, or of the blend */
};

struct face_batch_options {
    uint64_t seed;
    size_t persons, pictures; /* persons per batch, and pictures per person */
    size_t blended;           /* how many of the persons are blends */
    float reshape;            /* largest reshaping of a blend, as a fraction of the side */
};

/* Sets persons · pictures entries, person by person. */
int face_batch_draw(const struct dataset *dataset, const struct dataset_persons_list *from,
                    const struct face_batch_options *options, uint64_t step,
                    struct face_batch_entry *ret_entries, struct err *err);

#endif

/* Draws the pictures in the batch of a step. Some people of the batch may be blends of two people.
 * All pictures of a blend mix the two people with the same weights and the same reshaping, so they
 * show a person who does not exist. A data set of few people has many pairs of people, so blends
 * teach the model to tell people apart instead of memorising the people of the data set. The batch
 * depends only on seed and step, so it is the same with any number of workers. */
#ifndef TRAINYARD_MODELS_FACE_BATCH_H
#define TRAINYARD_MODELS_FACE_BATCH_H

#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_batch_entry {
    struct dataset_sample sample;
    struct dataset_sample other; /* the picture that is blended with `sample` */
    float part;                  /* weight of `other`; 0: `sample` is not blended */
    struct augment_shape shape;  /* the reshaping of a blend */
    int label;                   /* index of the person; for a blend, a number above all indices */
};

struct face_batch_options {
    uint64_t seed;
    size_t persons, pictures; /* persons per batch, and pictures per person */
    size_t blended;           /* number of persons that are blends */
    float reshape; /* largest amplitude of the waves that reshape a blend, as a fraction of the
                      picture's side */
};

/* Sets persons × pictures entries, ordered by person. */
int face_batch_draw(const struct dataset *dataset, const struct dataset_persons_list *from,
                    const struct face_batch_options *options, uint64_t step,
                    struct face_batch_entry *ret_entries, struct err *err);

#endif

/* Decides which pictures form the batch of a training step. Some persons of a batch may be blends:
 * each of their pictures is a mixture of a picture of one person and a picture of another. All
 * pictures of a blend have the same two persons, weights and reshaping, so they show a person who
 * does not exist. A data set of few people has many pairs of people, so blends teach the model to
 * tell people apart instead of memorising the people of the data set. The batch depends only on the
 * data set, the options and the step, so it is the same with any number of workers. face_fit()
 * draws the batches; models/face/pictures.h loads the pictures. */
#ifndef TRAINYARD_MODELS_FACE_BATCH_H
#define TRAINYARD_MODELS_FACE_BATCH_H

#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_batch_entry {
    struct dataset_sample sample;
    /* The picture that is blended with `sample`. Not used if `part` is 0. */
    struct dataset_sample other;
    float part;                 /* weight of `other`; 0: `sample` is not blended */
    struct augment_shape shape; /* how a blend is reshaped; not used if `part` is 0 */
    int label;                  /* index of the person; for a blend, a number above all indices */
};

struct face_batch_options {
    uint64_t seed;
    size_t persons, pictures; /* persons per batch, and pictures per person */
    size_t blended;           /* number of persons that are blends */
    float reshape; /* largest amplitude of the waves that reshape a blend, as a fraction of the
                      picture's side */
};

/* Draws the batch of step `step` from the persons in `from`, which must have at least
 * options->persons persons. Sets persons × pictures entries, ordered by person. */
int face_batch_draw(const struct dataset *dataset, const struct dataset_persons_list *from,
                    const struct face_batch_options *options, uint64_t step,
                    struct face_batch_entry *ret_entries, struct err *err);

#endif

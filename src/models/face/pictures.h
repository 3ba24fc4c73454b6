/* Loads the pictures of a data set for a face model. Pictures are decoded once, kept as bytes, and
 * augmented at each use in training. The augmentation depends only on seed, step and position, so
 * it is the same with any number of workers. Several threads may load pictures at the same time. */
#ifndef TRAINYARD_MODELS_FACE_PICTURES_H
#define TRAINYARD_MODELS_FACE_PICTURES_H

#include "models/face/batch.h"
#include "models/face/face.h"
#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_pictures;

enum {
    FACE_PICTURES_BYTES_MAX =
        2000000000 /* if the data set is larger, pictures are decoded at each use */
};

/* `dataset` must outlive the result. */
struct face_pictures *face_pictures_new(const struct dataset *dataset,
                                        const struct face_config *config);
struct face_pictures *face_pictures_free(struct face_pictures *pictures); /* NULL-safe */
DEFINE_CLEANUP(face_pictures)

/* Loads a picture as pixels from 0 to 1. */
int face_pictures_load(struct face_pictures *pictures, const struct dataset_sample *sample,
                       float *ret_pixels, struct err *err);

/* Loads the picture of a batch entry: blended, augmented with draws keyed by (seed, step,
 * position), and prepared for the network. */
int face_pictures_load_changed(struct face_pictures *pictures, const struct augment *augment,
                               const struct face_batch_entry *entry, uint64_t seed, uint64_t step,
                               uint64_t position, float *ret_input, struct err *err);

#endif

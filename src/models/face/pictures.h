/* Loads the pictures of a data set for the training of a face model. Decoded pictures are kept in
 * memory as bytes, up to a limit, and are augmented at each use. The augmentation depends only on
 * seed, step and position, so it is the same with any number of workers. Several threads may load
 * pictures at the same time. */
#ifndef TRAINYARD_MODELS_FACE_PICTURES_H
#define TRAINYARD_MODELS_FACE_PICTURES_H

#include "models/face/batch.h"
#include "models/face/face.h"
#include "train/data/augment.h"
#include "train/data/dataset.h"

struct face_pictures;

/* If the decoded pictures of a data set have more bytes than this, they are not kept but decoded at
 * each use. */
enum { FACE_PICTURES_BYTES_MAX = 2000000000 };

/* `dataset` must outlive the result. The caller frees the result. */
struct face_pictures *face_pictures_new(const struct dataset *dataset,
                                        const struct face_config *config);
struct face_pictures *face_pictures_free(struct face_pictures *pictures); /* NULL-safe */
DEFINE_CLEANUP(face_pictures)

/* Loads a picture as pixels from 0 to 1, neither blended nor augmented nor prepared. */
int face_pictures_load(struct face_pictures *pictures, const struct dataset_sample *sample,
                       float *ret_pixels, struct err *err);

/* Loads the input of the network for a batch entry: blends the entry's pictures if it is a blend,
 * augments the result with random draws keyed by seed, step and position, and prepares it
 * (face_prepare()). */
int face_pictures_load_input(struct face_pictures *pictures, const struct augment *augment,
                             const struct face_batch_entry *entry, uint64_t seed, uint64_t step,
                             uint64_t position, float *ret_input, struct err *err);

#endif

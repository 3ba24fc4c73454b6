/* A face model, ready to run: parameters, network and the memory of one pass. `trainer predict` and
 * the model server load it from a model file or a checkpoint; training creates a new one. One
 * thread at a time may use it. */
#ifndef TRAINYARD_MODELS_FACE_MODEL_H
#define TRAINYARD_MODELS_FACE_MODEL_H

#include "models/face/face.h"
#include "models/face/threshold.h"

struct face_model;

/* Creates a model whose parameters are not set. The caller sets them and then calls
 * face_model_changed(). */
int face_model_new(const struct face_config *config, struct face_model **ret, struct err *err);
int face_model_load(const char *path, struct face_model **ret, struct err *err);
struct face_model *face_model_free(struct face_model *model); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_model)

const struct face_config *face_model_config(const struct face_model *model);
size_t face_model_side(const struct face_model *model);
size_t face_model_channels(const struct face_model *model);
size_t face_model_dimensions(const struct face_model *model);

/* Returns the distances of strangers that were measured at the end of training. Its `people` is 0
 * if the training did not complete, or if an older version wrote the model. */
const struct face_strangers *face_model_strangers(const struct face_model *model);

struct params *face_model_params(struct face_model *model);
struct network *face_model_network(struct face_model *model);
void face_model_changed(struct face_model *model); /* call after each change of parameters */

/* Takes `count` pictures of side × side × channels floats from 0 to 1, as dataset_load() returns
 * them. Sets count × dimensions floats: embeddings of length 1. With five views, an embedding is
 * the normalised mean of five embeddings: of the picture itself, and of the picture moved a little
 * in each of four directions. The exact position of the face then matters less. Returns
 * -ERR_INVALID if a pixel is not a number. */
int face_model_embed(struct face_model *model, const float *pixels, size_t count,
                     float *ret_embeddings, struct err *err);

#endif

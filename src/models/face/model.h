/* A face model, ready to run: parameters, network and the memory of one pass. The commands `trainer
 * predict`, `trainer export` and `trainer serve` load a model from a model file or a checkpoint;
 * training creates a new model. Only one thread at a time may use a model. */
#ifndef TRAINYARD_MODELS_FACE_MODEL_H
#define TRAINYARD_MODELS_FACE_MODEL_H

#include "models/face/face.h"
#include "models/face/threshold.h"

struct face_model;

/* Creates a model whose parameters are not set. The caller sets them, calls face_model_changed(),
 * and frees *ret with face_model_free(). */
int face_model_new(const struct face_config *config, struct face_model **ret, struct err *err);
/* Loads a model file or a checkpoint. Returns -ERR_INVALID if the file has another kind of model,
 * or the error of checkpoint_read(). The caller frees *ret. */
int face_model_load(const char *path, struct face_model **ret, struct err *err);
struct face_model *face_model_free(struct face_model *model); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_model)

const struct face_config *face_model_config(const struct face_model *model);
/* face_model_side() and face_model_channels() describe the pictures that the model takes.
 * face_model_dimensions() returns the number of floats in an embedding. */
size_t face_model_side(const struct face_model *model);
size_t face_model_channels(const struct face_model *model);
size_t face_model_dimensions(const struct face_model *model);

/* Returns the distribution of distances of strangers that was measured at the end of training. The
 * model owns it. Its `people` is 0 if there is no such measurement, for example in a checkpoint or
 * in a file of an older version. */
const struct face_strangers *face_model_strangers(const struct face_model *model);

struct params *face_model_params(struct face_model *model);
struct network *face_model_network(struct face_model *model);
/* Must be called after every change of the parameters, before the next pass. */
void face_model_changed(struct face_model *model);

/* Takes `count` pictures of side × side × channels floats from 0 to 1, as dataset_load() returns
 * them. Sets count × dimensions floats: one embedding of length 1 per picture. With five views, an
 * embedding is the normalised mean of five embeddings: of the picture itself, and of the picture
 * moved a little in each of four directions. The exact position of the face then matters less.
 * Returns -ERR_INVALID if a pixel is infinite or not a number. */
int face_model_embed(struct face_model *model, const float *pixels, size_t count,
                     float *ret_embeddings, struct err *err);

#endif

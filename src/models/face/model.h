/* A face model that can be run: parameters, network and the memory of one pass. Loaded from a model
 * file or a checkpoint by predict and by the page server; made empty by training. One owner at a
 * time: embedding uses memory inside. */
#ifndef TRAINYARD_MODELS_FACE_MODEL_H
#define TRAINYARD_MODELS_FACE_MODEL_H

#include "models/face/face.h"
#include "models/face/threshold.h"

struct face_model;

/* Values are not set: face_model_params() is for the caller to fill, then face_model_changed(). */
int face_model_new(const struct face_config *config, struct face_model **ret, struct err *err);
int face_model_load(const char *path, struct face_model **ret, struct err *err);
struct face_model *face_model_free(struct face_model *model); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_model)

const struct face_config *face_model_config(const struct face_model *model);
size_t face_model_side(const struct face_model *model);
size_t face_model_channels(const struct face_model *model);
size_t face_model_dimensions(const struct face_model *model);

/* How near strangers came at the end of training. Nothing was measured in a model that was never
 * trained to its end, or by a version that did not measure it. */
const struct face_strangers *face_model_strangers(const struct face_model *model);

struct params *face_model_params(struct face_model *model);
struct network *face_model_network(struct face_model *model);
void face_model_changed(struct face_model *model); /* after every change of the values */

/* `count` pictures of side × side × channels floats from 0 to 1, as dataset_load() gives them;
 * embeddings are count × dimensions, each of length 1. With five views it is the direction of the
 * mean over the picture and the picture moved a little each way: where exactly the face lies then
 * counts less. A picture with a value that is no number is ERR_INVALID. */
int face_model_embed(struct face_model *model, const float *pixels, size_t count,
                     float *ret_embeddings, struct err *err);

#endif

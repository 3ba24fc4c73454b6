/* Writes a face model as an ONNX file, whose graph takes pixels from 0 to 1 and returns embeddings.
 * The graph includes the preparation of the picture (face_prepare()), but not the crop, and it
 * computes one view even if the model uses five. `trainer export` calls it. */
#ifndef TRAINYARD_MODELS_FACE_ONNX_H
#define TRAINYARD_MODELS_FACE_ONNX_H

#include "models/face/model.h"

/* The input "pixels" is [batch, channels, side, side]; the output "embedding" is [batch,
 * dimensions]. Replaces an existing file. */
int face_onnx_write(struct face_model *model, const char *path, struct err *err);

#endif

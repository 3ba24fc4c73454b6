/* Writes a face model as an ONNX file: pixels from 0 to 1 in, embeddings out. The graph includes
 * the preparation of the picture. Called by `trainer export`. */
#ifndef TRAINYARD_MODELS_FACE_ONNX_H
#define TRAINYARD_MODELS_FACE_ONNX_H

#include "models/face/model.h"

/* Input "pixels" [batch, channels, side, side], output "embedding" [batch, dimensions]. */
int face_onnx_write(struct face_model *model, const char *path, struct err *err);

#endif

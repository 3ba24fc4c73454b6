/* Writes a classifier as an ONNX file: pixels from 0 to 1 in, probabilities out. The graph includes
 * the preparation of the picture; the metadata has the labels. Called by `trainer export`. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_ONNX_H
#define TRAINYARD_MODELS_CLASSIFIER_ONNX_H

#include "models/classifier/model.h"

/* Input "pixels" [batch, channels, side, side], output "probabilities" [batch, classes]. */
int classifier_onnx_write(struct classifier_model *model, const char *path, struct err *err);

#endif

/* Writes a classifier as an ONNX file, whose graph takes pixels from 0 to 1 and returns
 * probabilities. The graph includes the preparation of the picture (classifier_prepare()). The
 * metadata of the file has the labels as a JSON array. `trainer export` calls it. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_ONNX_H
#define TRAINYARD_MODELS_CLASSIFIER_ONNX_H

#include "models/classifier/model.h"

/* The input "pixels" is [batch, channels, side, side]; the output "probabilities" is [batch,
 * classes]. Replaces an existing file. */
int classifier_onnx_write(struct classifier_model *model, const char *path, struct err *err);

#endif

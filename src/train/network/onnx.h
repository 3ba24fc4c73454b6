/* Writing ONNX models, which other programs run: a graph of nodes and constants, built in memory
 * and saved as a whole. onnx_network() adds a network of ours; what stands before and behind it
 * (how a picture is prepared, what the output means) is added by the model. Reading is not done
 * here. */
#ifndef TRAINYARD_TRAIN_ONNX_H
#define TRAINYARD_TRAIN_ONNX_H

#include "train/network/network.h"

#include <stdint.h>

enum {
    ONNX_NAME_MAX = 96,
    ONNX_OPSET = 13, /* of 2020: old enough for every runtime in use */
    ONNX_BATCH = -1, /* as a dimension: any number of samples */
};

struct onnx;

struct onnx *onnx_new(const char *name);   /* of the graph */
struct onnx *onnx_free(struct onnx *onnx); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(onnx)

/* What goes in and comes out, as floats. */
void onnx_input(struct onnx *onnx, const char *name, const int64_t *dims, size_t count);
void onnx_output(struct onnx *onnx, const char *name, const int64_t *dims, size_t count);

/* Constants. */
void onnx_floats(struct onnx *onnx, const char *name, const int64_t *dims, size_t count,
                 const float *values);
void onnx_float(struct onnx *onnx, const char *name, float value);
void onnx_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count);

/* Attributes of the next node. */
void onnx_attribute_int(struct onnx *onnx, const char *name, int64_t value);
void onnx_attribute_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count);
void onnx_attribute_float(struct onnx *onnx, const char *name, float value);
/* A node with one output, whose name is its own; inputs end with NULL. */
void onnx_node(struct onnx *onnx, const char *op, const char *output, const char *const *inputs);

/* A word about the model, for whoever asks: key and text. */
void onnx_note(struct onnx *onnx, const char *key, const char *text);

/* The layers of a network as it is after training, on `input`: pictures as [batch, channels,
 * height, width], where ours have the channels last; weights are turned accordingly. A layer
 * without an ONNX form is ERR_UNSUPPORTED. */
int onnx_network(struct onnx *onnx, const struct network *network, const struct params *params,
                 const char *input, char ret_output[ONNX_NAME_MAX], struct err *err);

/* Written aside and renamed. */
int onnx_save(const struct onnx *onnx, const char *path, struct err *err);

#endif

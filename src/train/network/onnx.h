/* Writes ONNX models for other runtimes: a graph of nodes and constants, built in memory and saved
 * in one piece. `trainer export` uses it. onnx_network() adds the layers of a network. The model's
 * own code (src/models/) adds the preparation of the input and the labels of the output. Trainyard
 * does not read ONNX files. */
#ifndef TRAINYARD_TRAIN_NETWORK_ONNX_H
#define TRAINYARD_TRAIN_NETWORK_ONNX_H

#include "train/network/network.h"

#include <stdint.h>

enum {
    ONNX_NAME_MAX = 96,
    ONNX_OPSET = 13, /* operator set version of 2020, which current runtimes support */
    ONNX_BATCH = -1, /* a dimension of variable size: the number of samples */
};

struct onnx;

/* Creates an empty graph with a name. The caller frees it. */
struct onnx *onnx_new(const char *name);
struct onnx *onnx_free(struct onnx *onnx); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(onnx)

/* Each of these functions declares an input or an output of the graph: a tensor of floats with
 * `count` dimensions. */
void onnx_input(struct onnx *onnx, const char *name, const int64_t *dims, size_t count);
void onnx_output(struct onnx *onnx, const char *name, const int64_t *dims, size_t count);

/* Each of these functions adds a constant to the graph: a tensor of floats, a single float, or a
 * vector of `count` integers. */
void onnx_floats(struct onnx *onnx, const char *name, const int64_t *dims, size_t count,
                 const float *values);
void onnx_float(struct onnx *onnx, const char *name, float value);
void onnx_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count);

/* Each of these functions adds an attribute to the node that the next call of onnx_node() adds. */
void onnx_attribute_int(struct onnx *onnx, const char *name, int64_t value);
void onnx_attribute_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count);
void onnx_attribute_float(struct onnx *onnx, const char *name, float value);
/* Adds a node with one output. `output` is the name of the output and of the node. `inputs` ends
 * with NULL. */
void onnx_node(struct onnx *onnx, const char *op, const char *output, const char *const *inputs);

/* Adds a key and a text to the metadata of the model. */
void onnx_note(struct onnx *onnx, const char *key, const char *text);

/* Adds the layers of a trained network. `input` is the name of a tensor [batch, channels, height,
 * width]. In struct network the channels are the last dimension, so the weights are transposed.
 * Sets ret_output to the name of the output tensor. Returns 0, or -ERR_UNSUPPORTED for a layer that
 * this function cannot write. */
int onnx_network(struct onnx *onnx, const struct network *network, const struct params *params,
                 const char *input, char ret_output[ONNX_NAME_MAX], struct err *err);

/* Writes the file under a temporary name and renames it. Returns 0, -ERR_TOO_LARGE if the model is
 * larger than a protobuf message may be or the metadata is larger than 1 MiB, or the error of the
 * file system. */
int onnx_save(const struct onnx *onnx, const char *path, struct err *err);

#endif

/* Builds the protobuf message of an ONNX model and writes it to a file; see onnx.h. The field
 * numbers are those of onnx.proto. */
#include "train/network/onnx.h"

#include "base/mem.h"
#include "base/protobuf_write.h"
#include "base/system/file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "floats are written as they lie in memory");

enum {
    IR_VERSION = 7,
    MODEL_MAX = INT32_MAX, /* bytes of the largest protobuf message */
    NOTES_MAX = 1 << 20,   /* bytes of all notes */
};

enum {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER = 2,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_NOTE = 14
};
enum { OPSET_VERSION = 2 };
enum { NOTE_KEY = 1, NOTE_TEXT = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_FLOAT = 2, ATTRIBUTE_INT = 3, ATTRIBUTE_INTS = 8 };
enum {
    ATTRIBUTE_TYPE = 20,
    ATTRIBUTE_TYPE_FLOAT = 1,
    ATTRIBUTE_TYPE_INT = 2,
    ATTRIBUTE_TYPE_INTS = 7
};
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { ELEMENT_FLOAT = 1, ELEMENT_INT64 = 7 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME = 2 };

struct onnx {
    struct buf graph;      /* the graph so far, as an encoded GraphProto */
    struct buf attributes; /* encoded attributes of the next node */
    struct buf notes;      /* encoded metadata of the model */
};

struct onnx *onnx_new(const char *name)
{
    struct onnx *onnx = mem_zalloc(sizeof(*onnx));
    buf_init(&onnx->graph, MODEL_MAX);
    buf_init(&onnx->attributes, 1 << 20);
    buf_init(&onnx->notes, NOTES_MAX);
    protobuf_put_string(&onnx->graph, GRAPH_NAME, name);
    return onnx;
}

struct onnx *onnx_free(struct onnx *onnx)
{
    if (!onnx)
        return NULL;
    buf_release(&onnx->graph);
    buf_release(&onnx->attributes);
    buf_release(&onnx->notes);
    free(onnx);
    return NULL;
}

/* Declares an input or an output. `field` is GRAPH_INPUT or GRAPH_OUTPUT. */
static void put_tensor_value(struct onnx *onnx, uint32_t field, const char *name,
                             const int64_t *dims, size_t count)
{
    _cleanup_buf_ struct buf shape, tensor, type, value;
    buf_init(&shape, MODEL_MAX);
    buf_init(&tensor, MODEL_MAX);
    buf_init(&type, MODEL_MAX);
    buf_init(&value, MODEL_MAX);
    for (size_t i = 0; i < count; i++) {
        _cleanup_buf_ struct buf dim;
        buf_init(&dim, 64);
        if (dims[i] == ONNX_BATCH)
            protobuf_put_string(&dim, DIM_NAME, "batch");
        else
            protobuf_put_int(&dim, DIM_VALUE, dims[i]);
        protobuf_put_message(&shape, SHAPE_DIM, &dim);
    }
    protobuf_put_int(&tensor, TENSOR_ELEMENT, ELEMENT_FLOAT);
    protobuf_put_message(&tensor, TENSOR_SHAPE, &shape);
    protobuf_put_message(&type, TYPE_TENSOR, &tensor);
    protobuf_put_string(&value, VALUE_NAME, name);
    protobuf_put_message(&value, VALUE_TYPE, &type);
    protobuf_put_message(&onnx->graph, field, &value);
}

void onnx_input(struct onnx *onnx, const char *name, const int64_t *dims, size_t count)
{
    put_tensor_value(onnx, GRAPH_INPUT, name, dims, count);
}

void onnx_output(struct onnx *onnx, const char *name, const int64_t *dims, size_t count)
{
    put_tensor_value(onnx, GRAPH_OUTPUT, name, dims, count);
}

static void put_constant(struct onnx *onnx, const char *name, const int64_t *dims, size_t count,
                         int type, const void *data, size_t size)
{
    _cleanup_buf_ struct buf tensor;
    buf_init(&tensor, MODEL_MAX);
    for (size_t i = 0; i < count; i++)
        protobuf_put_int(&tensor, TENSOR_DIMS, dims[i]);
    protobuf_put_int(&tensor, TENSOR_TYPE, type);
    protobuf_put_string(&tensor, TENSOR_NAME, name);
    protobuf_put_bytes(&tensor, TENSOR_RAW, data, size);
    protobuf_put_message(&onnx->graph, GRAPH_CONSTANT, &tensor);
}

void onnx_floats(struct onnx *onnx, const char *name, const int64_t *dims, size_t count,
                 const float *values)
{
    size_t total = 1;
    for (size_t i = 0; i < count; i++)
        total *= (size_t)dims[i];
    put_constant(onnx, name, dims, count, ELEMENT_FLOAT, values, total * sizeof(*values));
}

void onnx_float(struct onnx *onnx, const char *name, float value)
{
    onnx_floats(onnx, name, NULL, 0, &value);
}

void onnx_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count)
{
    int64_t length = (int64_t)count;
    put_constant(onnx, name, &length, 1, ELEMENT_INT64, values, count * sizeof(*values));
}

static void put_attribute(struct onnx *onnx, const char *name, int type, const struct buf *value)
{
    _cleanup_buf_ struct buf attribute;
    buf_init(&attribute, 1 << 20);
    protobuf_put_string(&attribute, ATTRIBUTE_NAME, name);
    buf_append(&attribute, value->data, value->size);
    protobuf_put_int(&attribute, ATTRIBUTE_TYPE, type);
    protobuf_put_message(&onnx->attributes, NODE_ATTRIBUTE, &attribute);
}

void onnx_attribute_int(struct onnx *onnx, const char *name, int64_t value)
{
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 64);
    protobuf_put_int(&bytes, ATTRIBUTE_INT, value);
    put_attribute(onnx, name, ATTRIBUTE_TYPE_INT, &bytes);
}

void onnx_attribute_ints(struct onnx *onnx, const char *name, const int64_t *values, size_t count)
{
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 1 << 16);
    for (size_t i = 0; i < count; i++)
        protobuf_put_int(&bytes, ATTRIBUTE_INTS, values[i]);
    put_attribute(onnx, name, ATTRIBUTE_TYPE_INTS, &bytes);
}

void onnx_attribute_float(struct onnx *onnx, const char *name, float value)
{
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 64);
    protobuf_put_float(&bytes, ATTRIBUTE_FLOAT, value);
    put_attribute(onnx, name, ATTRIBUTE_TYPE_FLOAT, &bytes);
}

void onnx_node(struct onnx *onnx, const char *op, const char *output, const char *const *inputs)
{
    _cleanup_buf_ struct buf node;
    buf_init(&node, 2 << 20);
    for (; *inputs; inputs++)
        protobuf_put_string(&node, NODE_INPUT, *inputs);
    protobuf_put_string(&node, NODE_OUTPUT, output);
    protobuf_put_string(&node, NODE_NAME, output);
    protobuf_put_string(&node, NODE_OP, op);
    buf_append(&node, onnx->attributes.data, onnx->attributes.size);
    protobuf_put_message(&onnx->graph, GRAPH_NODE, &node);
    buf_clear(&onnx->attributes);
}

void onnx_note(struct onnx *onnx, const char *key, const char *text)
{
    _cleanup_buf_ struct buf note;
    buf_init(&note, NOTES_MAX);
    protobuf_put_string(&note, NOTE_KEY, key);
    protobuf_put_string(&note, NOTE_TEXT, text);
    protobuf_put_message(&onnx->notes, MODEL_NOTE, &note);
}

int onnx_save(const struct onnx *onnx, const char *path, struct err *err)
{
    _cleanup_buf_ struct buf model, opset;
    buf_init(&model, MODEL_MAX);
    buf_init(&opset, 64);
    protobuf_put_int(&model, MODEL_IR_VERSION, IR_VERSION);
    protobuf_put_string(&model, MODEL_PRODUCER, "trainyard");
    protobuf_put_message(&model, MODEL_GRAPH, &onnx->graph);
    protobuf_put_int(&opset, OPSET_VERSION, ONNX_OPSET);
    protobuf_put_message(&model, MODEL_OPSET, &opset);
    buf_append(&model, onnx->notes.data, onnx->notes.size);
    if (onnx->notes.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "cannot write '%s': the notes about this model are larger than %d bytes",
                       path, NOTES_MAX);
    if (model.overflowed)
        return err_set(
            err, ERR_TOO_LARGE,
            "cannot write '%s': an ONNX file must be smaller than 2 GiB, but this model is larger",
            path);
    return file_write_atomic(path, model.data, model.size, 0644, err);
}

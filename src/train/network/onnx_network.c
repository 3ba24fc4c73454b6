/* Converts the layers of a network to ONNX nodes; see onnx_network() in onnx.h. The output of layer
 * "conv1" is the tensor "layers/conv1". Tensors and constants inside a layer have names such as
 * "conv1/before". The constant of a parameter has the name of the parameter. */
#include "train/network/onnx.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct onnx *onnx;
    const struct network *network;
    const struct params *params;
    /* names of the tensors in ONNX; the index is the number of the tensor in the network */
    char names[NETWORK_LAYERS_MAX + 1][ONNX_NAME_MAX];
    /* flat[tensor]: the tensor is [batch, values] in ONNX, not [batch, channels, height, width] */
    bool flat[NETWORK_LAYERS_MAX + 1];
};

#define INPUTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct param *parameter_of(const struct writer *writer, const struct layer *layer,
                                        int i)
{
    return &writer->params->entries[layer->parameter[i]];
}

static const char *input_of(const struct writer *writer, const struct layer *layer, int i)
{
    return writer->names[layer->input[i]];
}

static const char *layer_part_name(const struct layer *layer, const char *what,
                                   char text[ONNX_NAME_MAX])
{
    snprintf(text, ONNX_NAME_MAX, "%s/%s", layer->name, what);
    return text;
}

/* Adds parameter i of a layer, which has one value per channel, and returns its name. `flat`: it is
 * applied to vectors, so its shape is [channels]. Otherwise it is applied to pictures, so its shape
 * is [channels, 1, 1]. */
static const char *put_channels(struct writer *writer, const struct layer *layer, int i, bool flat)
{
    const struct param *entry = parameter_of(writer, layer, i);
    int64_t dims[] = {entry->dims[0], 1, 1};
    onnx_floats(writer->onnx, entry->name, dims, flat ? 1 : 3,
                params_value(writer->params, layer->parameter[i]));
    return entry->name;
}

/* Adds the attributes of a convolution or a pool to the next node. */
static void put_window(struct writer *writer, int window, int stride, int pad)
{
    onnx_attribute_ints(writer->onnx, "kernel_shape", (int64_t[]){window, window}, 2);
    onnx_attribute_ints(writer->onnx, "strides", (int64_t[]){stride, stride}, 2);
    onnx_attribute_ints(writer->onnx, "pads", (int64_t[]){pad, pad, pad, pad}, 4);
}

/* Transposes the weights from [window, window, in, out] to [out, in, window, window]. The weights
 * of a depthwise convolution are [window, window, channels] and become [channels, 1, window,
 * window]. */
static void put_conv(struct writer *writer, const struct layer *layer, const char *out)
{
    const struct param *entry = parameter_of(writer, layer, 0);
    const float *from = params_value(writer->params, layer->parameter[0]);
    bool depthwise = layer->ops == &layers_depthwise;
    int window = entry->dims[0], in = depthwise ? 1 : entry->dims[2],
        channels = depthwise ? entry->dims[2] : entry->dims[3];
    _cleanup_free_ float *transposed = mem_calloc(entry->count, sizeof(*transposed));
    for (int k = 0; k < window * window; k++)
        for (int i = 0; i < in; i++)
            for (int o = 0; o < channels; o++)
                transposed[(o * in + i) * window * window + k] = from[(k * in + i) * channels + o];
    int64_t dims[] = {channels, in, window, window};
    onnx_floats(writer->onnx, entry->name, dims, 4, transposed);
    put_window(writer, window, layer->conv.stride, layer->conv.pad);
    if (depthwise)
        onnx_attribute_int(writer->onnx, "group", channels);
    onnx_node(writer->onnx, "Conv", out, INPUTS(input_of(writer, layer, 0), entry->name));
}

/* If the input is a picture, the weights are reordered, because a picture is [height, width,
 * channels] in struct network and [channels, height, width] in ONNX. */
static void put_dense(struct writer *writer, const struct layer *layer, const char *out)
{
    const struct param *weights = parameter_of(writer, layer, 0);
    const float *from = params_value(writer->params, layer->parameter[0]);
    int pixels = layer->in.h * layer->in.w, channels = layer->in.c, outputs = layer->dense.channels;
    _cleanup_free_ float *transposed = mem_calloc(weights->count, sizeof(*transposed));
    for (int p = 0; p < pixels; p++)
        for (int c = 0; c < channels; c++)
            memcpy(transposed + (size_t)(c * pixels + p) * (size_t)outputs,
                   from + (size_t)(p * channels + c) * (size_t)outputs,
                   (size_t)outputs * sizeof(*transposed));
    int64_t dims[] = {(int64_t)pixels * channels, outputs};
    onnx_floats(writer->onnx, weights->name, dims, 2, transposed);
    const char *in = input_of(writer, layer, 0);
    char flat[ONNX_NAME_MAX];
    if (!writer->flat[layer->input[0]]) {
        onnx_attribute_int(writer->onnx, "axis", 1);
        onnx_node(writer->onnx, "Flatten", layer_part_name(layer, "flat", flat), INPUTS(in));
        in = flat;
    }
    onnx_node(writer->onnx, "Gemm", out,
              INPUTS(in, weights->name, put_channels(writer, layer, 1, true)));
}

/* Opsets before 18 have no group norm, so this function uses an instance norm in which each group
 * is one channel. */
static void put_group_norm(struct writer *writer, const struct layer *layer, const char *out)
{
    struct onnx *onnx = writer->onnx;
    bool flat = writer->flat[layer->input[0]];
    int groups = layer->norm.groups;
    char ones[ONNX_NAME_MAX], zeros[ONNX_NAME_MAX], to[ONNX_NAME_MAX], back[ONNX_NAME_MAX],
        grouped[ONNX_NAME_MAX], even[ONNX_NAME_MAX], apart[ONNX_NAME_MAX], scaled[ONNX_NAME_MAX];
    _cleanup_free_ float *values = mem_calloc((size_t)groups, sizeof(*values));
    int64_t count = groups;
    onnx_floats(onnx, layer_part_name(layer, "zeros", zeros), &count, 1, values);
    for (int i = 0; i < groups; i++)
        values[i] = 1;
    onnx_floats(onnx, layer_part_name(layer, "ones", ones), &count, 1, values);
    onnx_ints(onnx, layer_part_name(layer, "groups", to), (int64_t[]){0, groups, -1}, 3);
    onnx_ints(onnx, layer_part_name(layer, "channels", back),
              (int64_t[]){0, layer->in.c, layer->in.h, layer->in.w}, flat ? 2 : 4);
    onnx_node(onnx, "Reshape", layer_part_name(layer, "grouped", grouped),
              INPUTS(input_of(writer, layer, 0), to));
    onnx_attribute_float(onnx, "epsilon", NORM_EPSILON);
    onnx_node(onnx, "InstanceNormalization", layer_part_name(layer, "even", even),
              INPUTS(grouped, ones, zeros));
    onnx_node(onnx, "Reshape", layer_part_name(layer, "apart", apart), INPUTS(even, back));
    onnx_node(onnx, "Mul", layer_part_name(layer, "scaled", scaled),
              INPUTS(apart, put_channels(writer, layer, 0, flat)));
    onnx_node(onnx, "Add", out, INPUTS(scaled, put_channels(writer, layer, 1, flat)));
}

static void put_batch_norm(struct writer *writer, const struct layer *layer, const char *out)
{
    const char *names[4];
    for (int i = 0; i < 4; i++)
        names[i] = put_channels(writer, layer, i, true);
    onnx_attribute_float(writer->onnx, "epsilon", NORM_EPSILON);
    onnx_node(writer->onnx, "BatchNormalization", out,
              INPUTS(input_of(writer, layer, 0), names[0], names[1], names[2], names[3]));
}

/* Divides each row by its length. The length is at least a very small number, so that a row of
 * zeros stays zero. */
static void put_length_one(struct writer *writer, const struct layer *layer, const char *out)
{
    char length[ONNX_NAME_MAX], least[ONNX_NAME_MAX], divisor[ONNX_NAME_MAX];
    onnx_attribute_ints(writer->onnx, "axes", (int64_t[]){1}, 1);
    onnx_attribute_int(writer->onnx, "keepdims", 1);
    onnx_node(writer->onnx, "ReduceL2", layer_part_name(layer, "length", length),
              INPUTS(input_of(writer, layer, 0)));
    onnx_float(writer->onnx, layer_part_name(layer, "least", least), 1e-30f);
    onnx_node(writer->onnx, "Max", layer_part_name(layer, "divisor", divisor),
              INPUTS(length, least));
    onnx_node(writer->onnx, "Div", out, INPUTS(input_of(writer, layer, 0), divisor));
}

static void put_pool(struct writer *writer, const struct layer *layer, const char *out)
{
    bool max = layer->ops == &layers_max_pool, whole = layer->pool.window == 0;
    if (!max && whole) {
        onnx_node(writer->onnx, "GlobalAveragePool", out, INPUTS(input_of(writer, layer, 0)));
        return;
    }
    put_window(writer, whole ? layer->in.h : layer->pool.window, whole ? 1 : layer->pool.stride, 0);
    onnx_node(writer->onnx, max ? "MaxPool" : "AveragePool", out,
              INPUTS(input_of(writer, layer, 0)));
}

/* Returns whether the layer applies a ReLU to its result. */
static bool is_rectified(const struct layer *layer)
{
    if (layer->ops == &layers_bias)
        return layer->bias.relu;
    if (layer->ops == &layers_group_norm || layer->ops == &layers_batch_norm)
        return layer->norm.relu;
    return layer->ops == &layers_add_relu;
}

/* Adds the nodes and constants of layer i, and sets the name of its output. */
static int put_layer(struct writer *writer, int i, struct err *err)
{
    const struct layer *layer = network_layer(writer->network, i);
    char *name = writer->names[i + 1], before[ONNX_NAME_MAX];
    bool rectified = is_rectified(layer);
    snprintf(name, ONNX_NAME_MAX, "layers/%s", layer->name);
    writer->flat[i + 1] = layer->ops == &layers_dense || writer->flat[layer->input[0]];
    const char *out = rectified ? layer_part_name(layer, "before", before) : name,
               *in = input_of(writer, layer, 0);
    if (layer->ops == &layers_conv || layer->ops == &layers_depthwise)
        put_conv(writer, layer, out);
    else if (layer->ops == &layers_dense)
        put_dense(writer, layer, out);
    else if (layer->ops == &layers_bias)
        onnx_node(writer->onnx, "Add", out,
                  INPUTS(in, put_channels(writer, layer, 0, writer->flat[i + 1])));
    else if (layer->ops == &layers_group_norm)
        put_group_norm(writer, layer, out);
    else if (layer->ops == &layers_batch_norm)
        put_batch_norm(writer, layer, out);
    else if (layer->ops == &layers_max_pool || layer->ops == &layers_average_pool)
        put_pool(writer, layer, out);
    else if (layer->ops == &layers_add || layer->ops == &layers_add_relu)
        onnx_node(writer->onnx, "Add", out, INPUTS(in, input_of(writer, layer, 1)));
    else if (layer->ops == &layers_relu)
        onnx_node(writer->onnx, "Relu", out, INPUTS(in));
    else if (layer->ops == &layers_dropout)
        onnx_node(writer->onnx, "Identity", out,
                  INPUTS(in)); /* dropout has an effect only in training */
    else if (layer->ops == &layers_l2_normalise)
        put_length_one(writer, layer, out);
    else
        return err_set(err, ERR_UNSUPPORTED, "layer '%s': a %s layer cannot be written as ONNX",
                       layer->name, layer->ops->kind);
    if (rectified)
        onnx_node(writer->onnx, "Relu", name, INPUTS(out));
    return 0;
}

int onnx_network(struct onnx *onnx, const struct network *network, const struct params *params,
                 const char *input, char ret_output[ONNX_NAME_MAX], struct err *err)
{
    _cleanup_free_ struct writer *writer = mem_zalloc(sizeof(*writer));
    writer->onnx = onnx;
    writer->network = network;
    writer->params = params;
    snprintf(writer->names[NETWORK_INPUT], ONNX_NAME_MAX, "%s", input);
    int count = (int)network_layer_count(network), result = 0;
    for (int i = 0; i < count && result == 0; i++)
        result = put_layer(writer, i, err);
    if (result == 0)
        memcpy(ret_output, writer->names[count], ONNX_NAME_MAX);
    return result;
}

/* Builds a network and packs its weights; see network.h. pass.c runs the passes. */
#include "train/network/internal.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

struct network *network_new(struct params *params, struct shape input)
{
    struct network *network = mem_zalloc(sizeof(*network));
    network->params = params;
    network->input = input;
    network->input.n = 1;
    return network;
}

struct network *network_free(struct network *network)
{
    if (!network)
        return NULL;
    free(network->packed);
    free(network);
    return NULL;
}

void network_set_precision(struct network *network, enum precision precision)
{
    network->precision = precision;
}

static const struct shape *tensor_shape(const struct network *network, int tensor)
{
    return tensor == NETWORK_INPUT ? &network->input : &network->layers[tensor - 1].out;
}

static int add_layer(struct network *network, const char *name, struct layer layer)
{
    struct err *err = &network->error;
    if (err->code)
        return NETWORK_INPUT;
    if (network->finished || network->count == NETWORK_LAYERS_MAX) {
        err_set(err, ERR_INVALID, "layer '%s': %s", name,
                network->finished ? "the network is finished" : "too many layers");
        return NETWORK_INPUT;
    }
    for (int i = 0; i < layer.ops->inputs; i++)
        if (layer.input[i] < 0 || layer.input[i] > network->count) {
            err_set(err, ERR_INVALID, "layer '%s': its input %d is not an earlier layer", name,
                    layer.input[i]);
            return NETWORK_INPUT;
        }
    for (int i = 0; i < network->count; i++)
        if (str_eq(network->layers[i].name, name)) {
            err_set(err, ERR_INVALID, "two layers have the name '%s'", name);
            return NETWORK_INPUT;
        }
    layer.in = *tensor_shape(network, layer.input[0]);
    layer.precision = network->precision;
    const struct shape *other =
        layer.ops->inputs > 1 ? tensor_shape(network, layer.input[1]) : NULL;
    if (!str_copy(layer.name, sizeof(layer.name), name))
        err_set(err, ERR_INVALID, "layer '%s': the name is too long", name);
    else if (!layer.ops->may_read_network_input && layer.input[0] == NETWORK_INPUT)
        err_set(err, ERR_UNSUPPORTED,
                "layer '%s': a %s layer cannot read the input of the network directly", name,
                layer.ops->kind);
    else if (other && !shape_same_sample(&layer.in, other))
        err_set(err, ERR_INVALID, "layer '%s': %d×%d×%d and %d×%d×%d cannot be added", name,
                layer.in.h, layer.in.w, layer.in.c, other->h, other->w, other->c);
    else if (layer.ops->infer(&layer, err) < 0)
        err_wrap(err, "layer '%s'", name);
    if (err->code)
        return NETWORK_INPUT;
    network->layers[network->count++] = layer;
    return network->count;
}

int network_conv(struct network *network, const char *name, int input, int channels, int kernel,
                 int stride)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_conv,
                                    .input = {input},
                                    .conv = {channels, kernel, stride, (kernel - 1) / 2}});
}

int network_depthwise(struct network *network, const char *name, int input, int kernel, int stride)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_depthwise,
                                    .input = {input},
                                    .conv = {0, kernel, stride, (kernel - 1) / 2}});
}

int network_dense(struct network *network, const char *name, int input, int channels)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_dense, .input = {input}, .dense = {channels}});
}

int network_bias(struct network *network, const char *name, int input, bool relu)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_bias, .input = {input}, .bias = {relu}});
}

int network_dropout(struct network *network, const char *name, int input, float rate)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_dropout, .input = {input}, .dropout = {rate}});
}

int network_group_norm(struct network *network, const char *name, int input, int groups, bool relu)
{
    return add_layer(
        network, name,
        (struct layer){.ops = &layers_group_norm, .input = {input}, .norm = {groups, relu}});
}

int network_batch_norm(struct network *network, const char *name, int input, bool relu)
{
    return add_layer(
        network, name,
        (struct layer){.ops = &layers_batch_norm, .input = {input}, .norm = {.relu = relu}});
}

int network_relu(struct network *network, const char *name, int input)
{
    return add_layer(network, name, (struct layer){.ops = &layers_relu, .input = {input}});
}

int network_fm(struct network *network, const char *name, int input, int fields)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_fm, .input = {input}, .fm = {fields}});
}

int network_add(struct network *network, const char *name, int input, int other)
{
    return add_layer(network, name, (struct layer){.ops = &layers_add, .input = {input, other}});
}

int network_add_relu(struct network *network, const char *name, int input, int other)
{
    return add_layer(network, name,
                     (struct layer){.ops = &layers_add_relu, .input = {input, other}});
}

int network_max_pool(struct network *network, const char *name, int input, int window, int stride)
{
    return add_layer(
        network, name,
        (struct layer){.ops = &layers_max_pool, .input = {input}, .pool = {window, stride}});
}

int network_average_pool(struct network *network, const char *name, int input, int window,
                         int stride)
{
    return add_layer(
        network, name,
        (struct layer){.ops = &layers_average_pool, .input = {input}, .pool = {window, stride}});
}

int network_l2_normalise(struct network *network, const char *name, int input)
{
    return add_layer(network, name, (struct layer){.ops = &layers_l2_normalise, .input = {input}});
}

/* Plans which gradients the backward pass computes. If several layers read a tensor, the layer that
 * runs first in the backward pass sets the gradient of the tensor, and the other layers add to it.
 * A tensor that does not influence the output has no gradient. */
static void plan_gradients(struct network *network)
{
    bool *reached = network->reached;
    reached[network->count] = true;
    for (int i = network->count - 1; i >= 0; i--)
        for (int j = 0; reached[i + 1] && j < network->layers[i].ops->inputs; j++) {
            int tensor = network->layers[i].input[j];
            network->accumulate[i][j] = reached[tensor];
            reached[tensor] = true;
        }
}

int network_finish(struct network *network, struct err *err)
{
    if (network->error.code)
        return err_set(err, network->error.code, "%s", network->error.message);
    if (network->count == 0)
        return err_set(err, ERR_INVALID, "a network needs at least one layer");
    size_t packed = 0;
    for (int i = 0; i < network->count; i++) {
        struct layer *layer = &network->layers[i];
        network->first_param[i] = network->params->count;
        if (layer->ops->declare)
            layer->ops->declare(layer, network->params);
        network->packed_offset[i] = packed;
        if (layer->ops->packed_count)
            packed += network_aligned(layer->ops->packed_count(layer));
        network->total_offset[i] = network->totals;
        if (layer->ops->sums) /* twice: for the forward and for the backward pass */
            network->totals += 2 * network_aligned(layer->ops->sums->count(layer));
    }
    network->first_param[network->count] = network->params->count;
    plan_gradients(network);
    int result = params_allocate(network->params, err);
    if (result < 0)
        return result;
    network->packed = network_floats_new(packed);
    network->finished = true;
    return 0;
}

const struct shape *network_input_shape(const struct network *network)
{
    return &network->input;
}

const struct shape *network_output_shape(const struct network *network)
{
    return tensor_shape(network, network->count);
}

size_t network_layer_count(const struct network *network)
{
    return (size_t)network->count;
}

const struct layer *network_layer(const struct network *network, int layer)
{
    return &network->layers[layer];
}

void network_params(const struct network *network, int first, int last, size_t *ret_first,
                    size_t *ret_last)
{
    *ret_first = network->first_param[first];
    *ret_last = network->first_param[last];
}

void network_pack_part(struct network *network, int part, int parts)
{
    for (int i = 0; i < network->count; i++)
        if (network->layers[i].ops->pack)
            network->layers[i].ops->pack(&network->layers[i], network->params, part, parts,
                                         network->packed + network->packed_offset[i]);
}

void network_pack(struct network *network)
{
    network_pack_part(network, 0, 1);
}

/* The dense layer, with a bias. A sample is treated as one pixel with all its values as channels,
 * so that the product is a convolution with a window of one pixel. */
#include "train/layers/layer.h"

#include <stdio.h>

static struct conv_shape dense_shape_of(const struct layer *layer, int n)
{
    return (struct conv_shape){
        .n = n,
        .h = 1,
        .w = 1,
        .in = (int)shape_sample(&layer->in),
        .out = layer->dense.channels,
        .kernel = 1,
        .stride = 1,
    };
}

static int dense_infer(struct layer *layer, struct err *err)
{
    if (layer->dense.channels < 1)
        return err_set(err, ERR_INVALID, "a dense layer needs at least one output, not %d",
                       layer->dense.channels);
    struct conv_shape s = dense_shape_of(layer, 1);
    layer->kernels = kernels_choose_conv(&s, layer->precision);
    layer->out = (struct shape){.n = 1, .h = 1, .w = 1, .c = layer->dense.channels};
    return 0;
}

static void dense_declare(struct layer *layer, struct params *params)
{
    char name[PARAM_NAME_MAX];
    int in = (int)shape_sample(&layer->in), out = layer->dense.channels;
    snprintf(name, sizeof(name), "%s.weights", layer->name);
    layer->parameter[0] = params_declare(params, name, (int[]){in, out, 1, 1}, PARAM_XAVIER, in);
    snprintf(name, sizeof(name), "%s.bias", layer->name);
    layer->parameter[1] = params_declare(params, name, (int[]){out, 1, 1, 1}, PARAM_ZERO, 0);
}

static size_t dense_packed_count(const struct layer *layer)
{
    struct conv_shape s = dense_shape_of(layer, 1);
    return layer->kernels->packed_count(&s);
}

static void dense_pack(const struct layer *layer, const struct params *params, int part, int parts,
                       float *packed)
{
    struct conv_shape s = dense_shape_of(layer, 1);
    layer->kernels->pack(&s, params_value(params, layer->parameter[0]), part, parts, packed);
}

static size_t dense_scratch_count(const struct layer *layer, int n)
{
    struct conv_shape s = dense_shape_of(layer, n);
    return layer->kernels->scratch_count(&s);
}

static void dense_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, float *out)
{
    struct conv_shape s = dense_shape_of(layer, n);
    const float *bias = params_value(pass->params, layer->parameter[1]);
    layer->kernels->forward(&s, in[0], pass->packed, out, pass->scratch);
    for (int i = 0; i < n; i++, out += s.out)
        for (int o = 0; o < s.out; o++)
            out[o] += bias[o];
}

static void dense_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                           const float *const *in, const float *out, const float *d_out,
                           float *const *d_in, const bool *accumulate)
{
    struct conv_shape s = dense_shape_of(layer, n);
    const struct conv_kernels *kernels = layer->kernels;
    const struct param *entries = pass->params->entries;
    kernels->backward_weights(&s, in[0], d_out,
                              pass->gradients + entries[layer->parameter[0]].offset, pass->scratch);
    if (pass->need_input_gradient)
        kernels->backward_data(&s, d_out, pass->packed, d_in[0], accumulate[0], pass->scratch);
    pass->kernels->channel_sum(d_out, (size_t)n, s.out,
                               pass->gradients + entries[layer->parameter[1]].offset);
}

const struct layer_ops layers_dense = {
    .kind = "dense",
    .inputs = 1,
    .may_read_network_input = true,
    .infer = dense_infer,
    .declare = dense_declare,
    .packed_count = dense_packed_count,
    .pack = dense_pack,
    .scratch_count = dense_scratch_count,
    .forward = dense_forward,
    .backward = dense_backward,
};

/* The convolution layer. It has no bias, because a norm or a bias layer follows it. */
#include "train/layers/layer.h"

#include <stdio.h>

static struct conv_shape conv_shape_of(const struct layer *layer, int n)
{
    return (struct conv_shape){
        .n = n,
        .h = layer->in.h,
        .w = layer->in.w,
        .in = layer->in.c,
        .out = layer->conv.channels,
        .kernel = layer->conv.kernel,
        .stride = layer->conv.stride,
        .pad = layer->conv.pad,
    };
}

static int conv_infer(struct layer *layer, struct err *err)
{
    struct conv_shape s = conv_shape_of(layer, 1);
    if (s.kernel < 1 || s.stride < 1 || s.pad < 0 || s.pad >= s.kernel || s.out < 1)
        return err_set(err, ERR_INVALID,
                       "invalid convolution: window %d, stride %d, padding %d, %d output channels",
                       s.kernel, s.stride, s.pad, s.out);
    if (s.h + 2 * s.pad < s.kernel || s.w + 2 * s.pad < s.kernel)
        return err_set(err, ERR_INVALID, "a picture of %d×%d is smaller than the window of %d", s.h,
                       s.w, s.kernel);
    layer->kernels = kernels_choose_conv(&s, layer->precision);
    layer->out = (struct shape){.n = 1, .h = conv_out_h(&s), .w = conv_out_w(&s), .c = s.out};
    return 0;
}

static void conv_declare(struct layer *layer, struct params *params)
{
    char name[PARAM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.weights", layer->name);
    int window = layer->conv.kernel, dims[] = {window, window, layer->in.c, layer->conv.channels};
    layer->parameter[0] =
        params_declare(params, name, dims, PARAM_HE, window * window * layer->in.c);
}

static size_t conv_packed_count(const struct layer *layer)
{
    struct conv_shape s = conv_shape_of(layer, 1);
    return layer->kernels->packed_count(&s);
}

static void conv_pack(const struct layer *layer, const struct params *params, int part, int parts,
                      float *packed)
{
    struct conv_shape s = conv_shape_of(layer, 1);
    layer->kernels->pack(&s, params_value(params, layer->parameter[0]), part, parts, packed);
}

static size_t conv_scratch_count(const struct layer *layer, int n)
{
    struct conv_shape s = conv_shape_of(layer, n);
    return layer->kernels->scratch_count(&s);
}

static void conv_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, float *out)
{
    struct conv_shape s = conv_shape_of(layer, n);
    layer->kernels->forward(&s, in[0], pass->packed, out, pass->scratch);
}

static void conv_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, const float *out, const float *d_out,
                          float *const *d_in, const bool *accumulate)
{
    struct conv_shape s = conv_shape_of(layer, n);
    const struct conv_kernels *kernels = layer->kernels;
    size_t offset = pass->params->entries[layer->parameter[0]].offset;
    kernels->backward_weights(&s, in[0], d_out, pass->gradients + offset, pass->scratch);
    if (pass->need_input_gradient)
        kernels->backward_data(&s, d_out, pass->packed, d_in[0], accumulate[0], pass->scratch);
}

const struct layer_ops layers_conv = {
    .kind = "conv",
    .inputs = 1,
    .may_read_network_input = true,
    .infer = conv_infer,
    .declare = conv_declare,
    .packed_count = conv_packed_count,
    .pack = conv_pack,
    .scratch_count = conv_scratch_count,
    .forward = conv_forward,
    .backward = conv_backward,
};

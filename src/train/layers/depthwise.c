/* The layer of depthwise convolution, without bias: each channel has its own window. Together with
 * a 1 × 1 convolution it can replace a full convolution, and the two layers need far fewer products
 * than the full convolution. */
#include "train/layers/layer.h"

#include <stdio.h>

static struct depthwise_shape depthwise_shape_of(const struct layer *layer, int n)
{
    return (struct depthwise_shape){
        .n = n,
        .h = layer->in.h,
        .w = layer->in.w,
        .c = layer->in.c,
        .kernel = layer->conv.kernel,
        .stride = layer->conv.stride,
        .pad = layer->conv.pad,
    };
}

static int depthwise_infer(struct layer *layer, struct err *err)
{
    struct depthwise_shape s = depthwise_shape_of(layer, 1);
    if (s.kernel < 1 || s.stride < 1 || s.pad < 0 || s.pad >= s.kernel)
        return err_set(err, ERR_INVALID, "invalid convolution: window %d, stride %d, padding %d",
                       s.kernel, s.stride, s.pad);
    if (s.h + 2 * s.pad < s.kernel || s.w + 2 * s.pad < s.kernel)
        return err_set(err, ERR_INVALID, "a picture of %d×%d is smaller than the window of %d", s.h,
                       s.w, s.kernel);
    layer->out =
        (struct shape){.n = 1, .h = depthwise_out_h(&s), .w = depthwise_out_w(&s), .c = s.c};
    return 0;
}

static void depthwise_declare(struct layer *layer, struct params *params)
{
    char name[PARAM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.weights", layer->name);
    int window = layer->conv.kernel, dims[] = {window, window, layer->in.c, 1};
    layer->parameter[0] = params_declare(params, name, dims, PARAM_HE, window * window);
}

static void depthwise_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                              const float *const *in, float *out)
{
    struct depthwise_shape s = depthwise_shape_of(layer, n);
    pass->kernels->depthwise->forward(&s, in[0], params_value(pass->params, layer->parameter[0]),
                                      out);
}

static void depthwise_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                               const float *const *in, const float *out, const float *d_out,
                               float *const *d_in, const bool *accumulate)
{
    struct depthwise_shape s = depthwise_shape_of(layer, n);
    const struct depthwise_kernels *kernels = pass->kernels->depthwise;
    size_t offset = pass->params->entries[layer->parameter[0]].offset;
    kernels->backward_weights(&s, in[0], d_out, pass->gradients + offset);
    if (pass->need_input_gradient)
        kernels->backward_data(&s, d_out, params_value(pass->params, layer->parameter[0]), d_in[0],
                               accumulate[0]);
}

const struct layer_ops layers_depthwise = {
    .kind = "depthwise",
    .inputs = 1,
    .may_read_network_input = true,
    .infer = depthwise_infer,
    .declare = depthwise_declare,
    .forward = depthwise_forward,
    .backward = depthwise_backward,
};

/* Adds one bias per channel, optionally followed by a ReLU, in one loop over the values. Used after
 * a convolution that no normalization layer follows. */
#include "train/layers/layer.h"

#include <stdio.h>
#include <string.h>

static int bias_infer(struct layer *layer, struct err *err)
{
    layer->out = layer->in;
    return 0;
}

static void bias_declare(struct layer *layer, struct params *params)
{
    char name[PARAM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.bias", layer->name);
    layer->parameter[0] =
        params_declare(params, name, (int[]){layer->in.c, 1, 1, 1}, PARAM_ZERO, 0);
}

static size_t bias_rows(const struct layer *layer, int n)
{
    return (size_t)n * (size_t)layer->in.h * (size_t)layer->in.w;
}

/* The forward pass stores one scale factor of 1 per channel in the scratch memory. The backward
 * pass stores the gradient at the input of the ReLU there, if it must be added to d_in. */
static size_t bias_scratch_count(const struct layer *layer, int n)
{
    return bias_rows(layer, n) * (size_t)layer->in.c;
}

static void bias_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, float *out)
{
    for (int c = 0; c < layer->in.c; c++)
        pass->scratch[c] = 1;
    pass->kernels->channel_affine(in[0], bias_rows(layer, n), layer->in.c, pass->scratch,
                                  params_value(pass->params, layer->parameter[0]), layer->bias.relu,
                                  out);
}

static void bias_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, const float *out, const float *d_out,
                          float *const *d_in, const bool *accumulate)
{
    size_t rows = bias_rows(layer, n), count = rows * (size_t)layer->in.c;
    const float *d_sum = d_out;
    if (layer->bias.relu) {
        /* Write to d_in directly, unless the gradient must be added to it. */
        float *to = accumulate[0] ? pass->scratch : d_in[0];
        pass->kernels->relu_gradient(d_out, out, count, false, to);
        d_sum = to;
    }
    pass->kernels->channel_sum(d_sum, rows, layer->in.c,
                               pass->gradients + pass->params->entries[layer->parameter[0]].offset);
    if (accumulate[0])
        for (size_t i = 0; i < count; i++)
            d_in[0][i] += d_sum[i];
    else if (d_sum != d_in[0])
        memcpy(d_in[0], d_sum, count * sizeof(*d_sum));
}

const struct layer_ops layers_bias = {
    .kind = "bias",
    .inputs = 1,
    .infer = bias_infer,
    .declare = bias_declare,
    .scratch_count = bias_scratch_count,
    .forward = bias_forward,
    .backward = bias_backward,
};

/* The layers of group norm (optionally with a ReLU in the same loop over the values) and L2
 * normalisation. Each sample is normalised by itself, so workers need not exchange statistics. */
#include "train/layers/layer.h"

#include <stdio.h>

static struct group_norm_shape norm_shape_of(const struct layer *layer, int n)
{
    return (struct group_norm_shape){
        .n = n,
        .rows = (size_t)layer->in.h * (size_t)layer->in.w,
        .c = layer->in.c,
        .groups = layer->norm.groups,
        .relu = layer->norm.relu,
    };
}

static int norm_infer(struct layer *layer, struct err *err)
{
    if (layer->norm.groups < 1 || layer->in.c % layer->norm.groups)
        return err_set(err, ERR_INVALID, "%d channels do not divide into %d groups", layer->in.c,
                       layer->norm.groups);
    layer->out = layer->in;
    return 0;
}

static void norm_declare(struct layer *layer, struct params *params)
{
    char name[PARAM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.scale", layer->name);
    int dims[] = {layer->in.c, 1, 1, 1};
    layer->parameter[0] = params_declare(params, name, dims, PARAM_ONE, 0);
    snprintf(name, sizeof(name), "%s.shift", layer->name);
    layer->parameter[1] = params_declare(params, name, dims, PARAM_ZERO, 0);
}

static size_t norm_saved_count(const struct layer *layer, int n)
{
    return (size_t)n * (size_t)layer->norm.groups * 2;
}

static size_t norm_scratch_count(const struct layer *layer, int n)
{
    return 6 * (size_t)layer->in.c;
}

static void norm_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, float *out)
{
    struct group_norm_shape s = norm_shape_of(layer, n);
    group_norm_forward(pass->kernels, &s, in[0], params_value(pass->params, layer->parameter[0]),
                       params_value(pass->params, layer->parameter[1]), out, pass->saved,
                       pass->scratch);
}

static void norm_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, const float *out, const float *d_out,
                          float *const *d_in, const bool *accumulate)
{
    struct group_norm_shape s = norm_shape_of(layer, n);
    const struct param *entries = pass->params->entries;
    group_norm_backward(
        pass->kernels, &s, in[0], out, params_value(pass->params, layer->parameter[0]), pass->saved,
        d_out, d_in[0], accumulate[0], pass->gradients + entries[layer->parameter[0]].offset,
        pass->gradients + entries[layer->parameter[1]].offset, pass->scratch);
}

const struct layer_ops layers_group_norm = {
    .kind = "group norm",
    .inputs = 1,
    .infer = norm_infer,
    .declare = norm_declare,
    .saved_count = norm_saved_count,
    .scratch_count = norm_scratch_count,
    .forward = norm_forward,
    .backward = norm_backward,
};

static int l2_infer(struct layer *layer, struct err *err)
{
    if (layer->in.h != 1 || layer->in.w != 1)
        return err_set(err, ERR_INVALID,
                       "only a vector can be normalised to length 1, not a picture of %d×%d",
                       layer->in.h, layer->in.w);
    layer->out = layer->in;
    return 0;
}

static size_t l2_saved_count(const struct layer *layer, int n)
{
    return (size_t)n;
}

static void l2_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                       const float *const *in, float *out)
{
    kernels_l2_normalise_forward(n, layer->in.c, in[0], out, pass->saved);
}

static void l2_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                        const float *const *in, const float *out, const float *d_out,
                        float *const *d_in, const bool *accumulate)
{
    kernels_l2_normalise_backward(n, layer->in.c, out, pass->saved, d_out, d_in[0], accumulate[0]);
}

const struct layer_ops layers_l2_normalise = {
    .kind = "l2 normalise",
    .inputs = 1,
    .infer = l2_infer,
    .saved_count = l2_saved_count,
    .forward = l2_forward,
    .backward = l2_backward,
};

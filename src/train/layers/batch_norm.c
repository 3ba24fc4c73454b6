/* The batch norm layer, optionally with a ReLU in the same loop over the values. In training, mean
 * and variance are computed over the whole batch of all workers, so that N workers compute the same
 * result as one worker. Otherwise the layer uses the running mean and variance, which are
 * parameters that are not trained. */
#include "train/layers/layer.h"

#include <stdio.h>

/* The weight of a batch in the running statistics, as in PyTorch. */
#define MOMENTUM 0.1f

static struct batch_norm_shape batch_norm_shape_of(const struct layer *layer, int n)
{
    return (struct batch_norm_shape){
        .n = n,
        .rows = (size_t)layer->in.h * (size_t)layer->in.w,
        .c = layer->in.c,
        .relu = layer->norm.relu,
    };
}

static int norm_infer(struct layer *layer, struct err *err)
{
    layer->out = layer->in;
    return 0;
}

enum { SCALE, SHIFT, MEAN, VARIANCE }; /* positions in layer->parameter */

static void norm_declare(struct layer *layer, struct params *params)
{
    static const struct {
        const char *name;
        enum param_start start;
    } parts[] = {{"scale", PARAM_ONE},
                 {"shift", PARAM_ZERO},
                 {"mean", PARAM_KEPT_ZERO},
                 {"variance", PARAM_KEPT_ONE}};
    for (int i = 0; i < 4; i++) {
        char name[PARAM_NAME_MAX];
        snprintf(name, sizeof(name), "%s.%s", layer->name, parts[i].name);
        layer->parameter[i] =
            params_declare(params, name, (int[]){layer->in.c, 1, 1, 1}, parts[i].start, 0);
    }
}

static size_t norm_scratch_count(const struct layer *layer, int n)
{
    return batch_norm_sum_count(layer->in.c) + 3 * (size_t)layer->in.c;
}

/* Returns the mean of the batch in training, else the running mean. */
static const float *mean_of(const struct layer *layer, const struct layer_pass *pass)
{
    return pass->total ? pass->total + 1 : params_value(pass->params, layer->parameter[MEAN]);
}

static const float *variance_of(const struct layer *layer, const struct layer_pass *pass)
{
    return pass->total ? pass->total + 1 + layer->in.c
                       : params_value(pass->params, layer->parameter[VARIANCE]);
}

static void norm_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, float *out)
{
    struct batch_norm_shape s = batch_norm_shape_of(layer, n);
    batch_norm_forward(pass->kernels, &s, in[0], mean_of(layer, pass), variance_of(layer, pass),
                       params_value(pass->params, layer->parameter[SCALE]),
                       params_value(pass->params, layer->parameter[SHIFT]), out, pass->scratch);
}

static void norm_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, const float *out, const float *d_out,
                          float *const *d_in, const bool *accumulate)
{
    struct batch_norm_shape s = batch_norm_shape_of(layer, n);
    const struct param *entries = pass->params->entries;
    const float *mean = mean_of(layer, pass), *variance = variance_of(layer, pass);
    float *d_scale = pass->gradients + entries[layer->parameter[SCALE]].offset,
          *d_shift = pass->gradients + entries[layer->parameter[SHIFT]].offset;
    /* The sums cover this part only. The team adds the gradients of all parts later, like those of
     * other parameters. */
    float *sums = pass->scratch;
    batch_norm_gradient_sums(pass->kernels, &s, in[0], out, mean, d_out, sums);
    for (int c = 0; c < s.c; c++) {
        d_shift[c] += sums[1 + c];
        d_scale[c] += sums[1 + s.c + c] / batch_norm_deviation(variance[c]);
    }
    batch_norm_backward(pass->kernels, &s, in[0], out, mean, variance,
                        params_value(pass->params, layer->parameter[SCALE]), pass->total_back,
                        d_out, d_in[0], accumulate[0], sums + batch_norm_sum_count(s.c));
}

static size_t sums_count(const struct layer *layer)
{
    return batch_norm_sum_count(layer->in.c);
}

static void sums_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *in, float *ret_sums)
{
    struct batch_norm_shape s = batch_norm_shape_of(layer, n);
    batch_norm_sums(pass->kernels, &s, in, ret_sums);
}

static void sums_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *in, const float *out, const float *d_out, float *ret_sums)
{
    struct batch_norm_shape s = batch_norm_shape_of(layer, n);
    batch_norm_gradient_sums(pass->kernels, &s, in, out, mean_of(layer, pass), d_out, ret_sums);
}

static void sums_merge(const struct layer *layer, const float *sums, size_t parts, float *ret_total)
{
    batch_norm_merge(layer->in.c, sums, parts, ret_total);
}

static void sums_merge_back(const struct layer *layer, const float *sums, size_t parts,
                            float *ret_total)
{
    batch_norm_merge_gradient(layer->in.c, sums, parts, ret_total);
}

/* Updates the running mean and variance. The running variance is unbiased, so the variance of the
 * batch is multiplied by count / (count − 1). */
static void batch_norm_learn(const struct layer *layer, struct params *params, const float *total)
{
    float *mean = params_value(params, layer->parameter[MEAN]),
          *variance = params_value(params, layer->parameter[VARIANCE]);
    float count = total[0], unbiased = count > 1 ? count / (count - 1) : 1;
    for (int c = 0; c < layer->in.c; c++) {
        mean[c] += MOMENTUM * (total[1 + c] - mean[c]);
        variance[c] += MOMENTUM * (total[1 + layer->in.c + c] * unbiased - variance[c]);
    }
}

static const struct layer_sums SUMS = {
    .count = sums_count,
    .forward = sums_forward,
    .merge = sums_merge,
    .backward = sums_backward,
    .merge_back = sums_merge_back,
    .learn = batch_norm_learn,
};

const struct layer_ops layers_batch_norm = {
    .kind = "batch norm",
    .inputs = 1,
    .infer = norm_infer,
    .declare = norm_declare,
    .scratch_count = norm_scratch_count,
    .forward = norm_forward,
    .backward = norm_backward,
    .sums = &SUMS,
};

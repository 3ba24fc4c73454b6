/* The layers ReLU, addition, and addition with ReLU in one loop over the values. The last of these
 * ends a residual block. */
#include "train/layers/layer.h"

static int same_infer(struct layer *layer, struct err *err)
{
    layer->out = layer->in;
    return 0;
}

static size_t count_of(const struct layer *layer, int n)
{
    return (size_t)n * shape_sample(&layer->in);
}

static void relu_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, float *out)
{
    pass->kernels->relu(in[0], count_of(layer, n), out);
}

static void relu_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                          const float *const *in, const float *out, const float *d_out,
                          float *const *d_in, const bool *accumulate)
{
    pass->kernels->relu_gradient(d_out, out, count_of(layer, n), accumulate[0], d_in[0]);
}

const struct layer_ops layers_relu = {
    .kind = "relu",
    .inputs = 1,
    .infer = same_infer,
    .forward = relu_forward,
    .backward = relu_backward,
};

static void add_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                        const float *const *in, float *out)
{
    for (size_t i = 0; i < count_of(layer, n); i++)
        out[i] = in[0][i] + in[1][i];
}

static void add_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, const float *out, const float *d_out,
                         float *const *d_in, const bool *accumulate)
{
    for (int j = 0; j < 2; j++)
        for (size_t i = 0; i < count_of(layer, n); i++)
            d_in[j][i] = accumulate[j] ? d_in[j][i] + d_out[i] : d_out[i];
}

const struct layer_ops layers_add = {
    .kind = "add",
    .inputs = 2,
    .infer = same_infer,
    .forward = add_forward,
    .backward = add_backward,
};

static void add_relu_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                             const float *const *in, float *out)
{
    pass->kernels->add_relu(in[0], in[1], count_of(layer, n), out);
}

static void add_relu_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                              const float *const *in, const float *out, const float *d_out,
                              float *const *d_in, const bool *accumulate)
{
    for (int i = 0; i < 2; i++)
        pass->kernels->relu_gradient(d_out, out, count_of(layer, n), accumulate[i], d_in[i]);
}

const struct layer_ops layers_add_relu = {
    .kind = "add and relu",
    .inputs = 2,
    .infer = same_infer,
    .forward = add_relu_forward,
    .backward = add_relu_backward,
};

/* The pooling layers: the maximum or the mean of each window. A window of 0 is the whole input. */
#include "train/layers/layer.h"

static struct pool_shape pool_shape_of(const struct layer *layer, int n)
{
    int whole = layer->in.h;
    return (struct pool_shape){
        .n = n,
        .h = layer->in.h,
        .w = layer->in.w,
        .c = layer->in.c,
        .window = layer->pool.window ? layer->pool.window : whole,
        .stride = layer->pool.window ? layer->pool.stride : whole,
    };
}

static int pool_infer(struct layer *layer, struct err *err)
{
    struct pool_shape s = pool_shape_of(layer, 1);
    if (layer->pool.window == 0 && s.h != s.w)
        return err_set(err, ERR_UNSUPPORTED,
                       "only a square picture can be pooled as a whole, not one of %d×%d", s.h,
                       s.w);
    if (s.window < 1 || s.stride < 1 || s.window > s.h || s.window > s.w)
        return err_set(err, ERR_INVALID,
                       "a window of %d with stride %d does not fit a picture of "
                       "%d×%d",
                       s.window, s.stride, s.h, s.w);
    layer->out = (struct shape){.n = 1, .h = pool_out_h(&s), .w = pool_out_w(&s), .c = s.c};
    return 0;
}

static void max_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                        const float *const *in, float *out)
{
    struct pool_shape s = pool_shape_of(layer, n);
    pool_max_forward(&s, in[0], out);
}

static size_t max_scratch_count(const struct layer *layer, int n)
{
    return (size_t)layer->in.c;
}

static void max_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                         const float *const *in, const float *out, const float *d_out,
                         float *const *d_in, const bool *accumulate)
{
    struct pool_shape s = pool_shape_of(layer, n);
    pool_max_backward(pass->kernels, &s, in[0], out, d_out, d_in[0], accumulate[0], pass->scratch);
}

const struct layer_ops layers_max_pool = {
    .kind = "max pool",
    .inputs = 1,
    .infer = pool_infer,
    .scratch_count = max_scratch_count,
    .forward = max_forward,
    .backward = max_backward,
};

static void average_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                            const float *const *in, float *out)
{
    struct pool_shape s = pool_shape_of(layer, n);
    pool_average_forward(&s, in[0], out);
}

static void average_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                             const float *const *in, const float *out, const float *d_out,
                             float *const *d_in, const bool *accumulate)
{
    struct pool_shape s = pool_shape_of(layer, n);
    pool_average_backward(&s, d_out, d_in[0], accumulate[0]);
}

const struct layer_ops layers_average_pool = {
    .kind = "average pool",
    .inputs = 1,
    .infer = pool_infer,
    .forward = average_forward,
    .backward = average_backward,
};

/* The layer that computes the interaction term of a factorisation machine: the sum of the dot
 * products of all pairs of fields. All fields are vectors with the same number of dimensions. In
 * each dimension, each field is multiplied with the sum of the fields before it, which needs one
 * product per field instead of one per pair. */
#include "train/layers/layer.h"

static int dimensions_of(const struct layer *layer)
{
    return layer->in.c / layer->fm.fields;
}

static int fm_infer(struct layer *layer, struct err *err)
{
    if (layer->fm.fields < 2 || layer->in.h != 1 || layer->in.w != 1 ||
        layer->in.c % layer->fm.fields)
        return err_set(err, ERR_INVALID,
                       "an input of %d×%d×%d cannot be split into %d vectors of equal length",
                       layer->in.h, layer->in.w, layer->in.c, layer->fm.fields);
    layer->out = (struct shape){.n = 1, .h = 1, .w = 1, .c = 1};
    return 0;
}

static void fm_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                       const float *const *in, float *out)
{
    int dimensions = dimensions_of(layer);
    const float *sample = in[0];
    for (int i = 0; i < n; i++, sample += layer->in.c) {
        float products = 0;
        for (int d = 0; d < dimensions; d++) {
            float before = 0;
            for (int f = 0; f < layer->fm.fields; f++) {
                float value = sample[f * dimensions + d];
                products += before * value;
                before += value;
            }
        }
        out[i] = products;
    }
}

/* The derivative with respect to a value of one field is the sum of the values of the other fields
 * in the same dimension. */
static void fm_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                        const float *const *in, const float *out, const float *d_out,
                        float *const *d_in, const bool *accumulate)
{
    int dimensions = dimensions_of(layer);
    const float *sample = in[0];
    float *d_sample = d_in[0];
    for (int i = 0; pass->need_input_gradient && i < n;
         i++, sample += layer->in.c, d_sample += layer->in.c)
        for (int d = 0; d < dimensions; d++) {
            float sum = 0;
            for (int f = 0; f < layer->fm.fields; f++)
                sum += sample[f * dimensions + d];
            for (int at = d; at < layer->in.c; at += dimensions) {
                float value = d_out[i] * (sum - sample[at]);
                d_sample[at] = accumulate[0] ? d_sample[at] + value : value;
            }
        }
}

const struct layer_ops layers_fm = {
    .kind = "fm",
    .inputs = 1,
    .may_read_network_input = true,
    .infer = fm_infer,
    .forward = fm_forward,
    .backward = fm_backward,
};

/* The dropout layer. In training, each value becomes zero with probability `rate`, and the other
 * values are multiplied by 1 / (1 − rate). Otherwise the values do not change. The random choice
 * depends on the seed, the name of the layer, the step and the position of the sample in the batch
 * of all workers, so that N workers drop the same values as one worker. */
#include "train/layers/layer.h"

#include "base/hash.h"
#include "base/rand.h"

#include <string.h>

static int dropout_infer(struct layer *layer, struct err *err)
{
    if (!(layer->dropout.rate >= 0 && layer->dropout.rate < 1))
        return err_set(err, ERR_INVALID,
                       "the dropout rate is %g, but must be at least 0 and less than 1",
                       (double)layer->dropout.rate);
    layer->out = layer->in;
    return 0;
}

static size_t dropout_saved_count(const struct layer *layer, int n)
{
    return (size_t)n * shape_sample(&layer->in);
}

/* Draws the factor of each value of one sample: 0, or the scale of the values that remain. */
static void draw_factors(const struct layer *layer, const struct layer_draw *draw, int sample,
                         float *factors)
{
    float rate = layer->dropout.rate, scale = 1 / (1 - rate);
    uint64_t key = hash_fnv1a(draw->seed, layer->name, strlen(layer->name));
    struct rand rand;
    rand_init_keyed(&rand, key, draw->step, draw->position + (uint64_t)sample);
    for (size_t i = 0; i < shape_sample(&layer->in); i++)
        factors[i] = rand_unit(&rand) < (double)rate ? 0 : scale;
}

static void dropout_forward(const struct layer *layer, const struct layer_pass *pass, int n,
                            const float *const *in, float *out)
{
    size_t sample = shape_sample(&layer->in);
    if (!pass->draw) {
        memcpy(out, in[0], (size_t)n * sample * sizeof(*out));
        return;
    }
    for (int i = 0; i < n; i++)
        draw_factors(layer, pass->draw, i, pass->saved + (size_t)i * sample);
    for (size_t i = 0; i < (size_t)n * sample; i++)
        out[i] = in[0][i] * pass->saved[i];
}

static void dropout_backward(const struct layer *layer, const struct layer_pass *pass, int n,
                             const float *const *in, const float *out, const float *d_out,
                             float *const *d_in, const bool *accumulate)
{
    for (size_t i = 0; i < (size_t)n * shape_sample(&layer->in); i++) {
        float value = pass->draw ? d_out[i] * pass->saved[i] : d_out[i];
        d_in[0][i] = accumulate[0] ? d_in[0][i] + value : value;
    }
}

const struct layer_ops layers_dropout = {
    .kind = "dropout",
    .inputs = 1,
    .infer = dropout_infer,
    .saved_count = dropout_saved_count,
    .forward = dropout_forward,
    .backward = dropout_backward,
};

/* A layer as a table of operations. The network asks each layer in turn for its shapes, parameters
 * and memory sizes, then runs it forward and backward. A layer has no memory of its own, so that
 * one network can compute several parts of a batch, in several threads, at the same time. */
#ifndef TRAINYARD_TRAIN_LAYERS_LAYER_H
#define TRAINYARD_TRAIN_LAYERS_LAYER_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"
#include "train/layers/tensor.h"

enum { LAYER_NAME_MAX = 40, LAYER_INPUTS_MAX = 2 };

struct layer {
    const struct layer_ops *ops;
    char name[LAYER_NAME_MAX]; /* prefix of its parameters */
    int input[LAYER_INPUTS_MAX];
    struct shape in, out; /* of one sample; two inputs have the same shape */
    size_t parameter[4];  /* indices: weights and bias; or scale, shift and running statistics */
    enum precision precision;
    const struct conv_kernels *kernels; /* chosen by infer(); NULL: the layer does not convolve */
    union {
        struct {
            int channels, kernel, stride, pad;
        } conv; /* a depthwise convolution has the channels of its input */
        struct {
            int channels;
        } dense;
        struct {
            int groups; /* unused in a batch norm */
            bool relu;
        } norm;
        struct {
            int window, stride; /* window 0: the whole input */
        } pool;
        struct {
            bool relu;
        } bias;
        struct {
            int fields;
        } fm;
        struct {
            float rate; /* fraction of the values that becomes zero */
        } dropout;
    };
};

/* The key of random draws during training. It does not depend on how a batch is shared between
 * workers. */
struct layer_draw {
    uint64_t seed, step;
    uint64_t position; /* of the first sample, in the batch of all workers */
};

/* The memory that a layer may use during one pass. */
struct layer_pass {
    const struct kernels *kernels;
    const struct params *params; /* values */
    float *gradients;    /* an arena laid out like params->gradients, to which the layer adds */
    const float *packed; /* made by pack() since the values last changed */
    float *saved;        /* kept from the forward to the backward pass */
    float *scratch;      /* valid only during the call */
    const struct layer_draw *draw; /* NULL: not training, nothing is random */
    bool need_input_gradient;      /* false for a layer that reads the input of the network */
    /* Merged sums over the whole batch, for a layer with `sums`; NULL: not training. */
    const float *total, *total_back;
};

/* The sums that a layer needs over the whole batch, over all parts and all workers, before it can
 * go on. Each part contributes the same number of floats. They are merged in the order of the parts
 * in the batch, so the result does not depend on which worker computed them. A part without samples
 * contributes zeros. */
struct layer_sums {
    size_t (*count)(const struct layer *layer);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *in, float *ret_sums);
    void (*merge)(const struct layer *layer, const float *sums, size_t parts, float *ret_total);
    void (*backward)(const struct layer *layer, const struct layer_pass *pass, int n,
                     const float *in, const float *out, const float *d_out, float *ret_sums);
    void (*merge_back)(const struct layer *layer, const float *sums, size_t parts,
                       float *ret_total);
    /* Called after a successful step: updates the running statistics. */
    void (*learn)(const struct layer *layer, struct params *params, const float *total);
};

/* Operations that are NULL have nothing to do. */
struct layer_ops {
    const char *kind; /* "conv" */
    int inputs;
    bool reads_pictures; /* may read the input of the network, which has no gradient */
    int (*infer)(struct layer *layer, struct err *err); /* layer->in is set; sets layer->out */
    void (*declare)(struct layer *layer, struct params *params);
    size_t (*packed_count)(const struct layer *layer);
    /* Does part `part` of `parts` of the work: see struct conv_kernels. */
    void (*pack)(const struct layer *layer, const struct params *params, int part, int parts,
                 float *packed);
    size_t (*saved_count)(const struct layer *layer, int n);
    size_t (*scratch_count)(const struct layer *layer, int n);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *const *in, float *out);
    /* Sets d_in[i], or adds to it if accumulate[i]. */
    void (*backward)(const struct layer *layer, const struct layer_pass *pass, int n,
                     const float *const *in, const float *out, const float *d_out,
                     float *const *d_in, const bool *accumulate);
    const struct layer_sums *sums; /* NULL: the layer needs no sums over the whole batch */
};

extern const struct layer_ops layers_conv;
extern const struct layer_ops layers_depthwise;
extern const struct layer_ops layers_dense;
extern const struct layer_ops layers_bias;
extern const struct layer_ops layers_dropout;
extern const struct layer_ops layers_group_norm;
extern const struct layer_ops layers_batch_norm;
extern const struct layer_ops layers_relu;
extern const struct layer_ops layers_fm;
extern const struct layer_ops layers_add;
extern const struct layer_ops layers_add_relu; /* max(a + b, 0): the end of a residual block */
extern const struct layer_ops layers_max_pool;
extern const struct layer_ops layers_average_pool;
extern const struct layer_ops layers_l2_normalise;

#endif

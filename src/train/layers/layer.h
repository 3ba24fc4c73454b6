/* A layer as a table of operations. The network calls these operations to get the shapes,
 * parameters and memory sizes of each layer, and to run the forward and backward pass of the layer.
 * A layer has no memory for a pass, so that several threads can compute parts of a batch with one
 * network at the same time. */
#ifndef TRAINYARD_TRAIN_LAYERS_LAYER_H
#define TRAINYARD_TRAIN_LAYERS_LAYER_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"
#include "train/layers/tensor.h"

enum { LAYER_NAME_MAX = 40, LAYER_INPUTS_MAX = 2 };

struct layer {
    const struct layer_ops *ops;
    char name[LAYER_NAME_MAX];   /* prefix of the names of its parameters */
    int input[LAYER_INPUTS_MAX]; /* numbers of the tensors that it reads, as in network.h */
    struct shape in, out;        /* shapes of one sample; two inputs have the same shape */
    /* indices in params->entries: a convolution has weights; a dense layer has weights and bias; a
     * bias layer has a bias; a group norm has scale and shift; a batch norm has scale, shift,
     * running mean and running variance */
    size_t parameter[4];
    enum precision precision;
    /* chosen by infer() of the kinds "conv" and "dense"; NULL in all other layers */
    const struct conv_kernels *kernels;
    union {
        struct {
            int channels, kernel, stride, pad;
        } conv; /* `channels` is unused in a depthwise convolution */
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
            float rate; /* probability that a value becomes zero */
        } dropout;
    };
};

/* The key of random draws during training. The draws do not depend on how a batch is shared between
 * workers. */
struct layer_draw {
    uint64_t seed, step;
    uint64_t position; /* position of the first sample in the batch of all workers */
};

/* The memory that a layer may use during one pass. */
struct layer_pass {
    const struct kernels *kernels;
    const struct params *params; /* values of the parameters */
    float *gradients;            /* backward() adds to it; has the layout of params->gradients */
    const float *packed;         /* output of pack() for the current values */
    float *saved;                /* written by the forward pass for the backward pass */
    float *scratch;              /* valid only during the call */
    /* NULL: network_tape_draw() was not called, so nothing is random */
    const struct layer_draw *draw;
    /* false: backward() must not set d_in[0], which is NULL, because in[0] is the input of the
     * network and the caller does not need its gradient */
    bool need_input_gradient;
    /* Merged sums over the whole batch, of the forward pass and of the backward pass. NULL: `draw`
     * is NULL, or the layer has no `sums`. */
    const float *total, *total_back;
};

/* The operations of a layer that needs sums over the whole batch, of all parts and all workers,
 * before it can run. Each part gives count() floats. merge() and merge_back() merge the sums in the
 * order of the parts in the batch, so the result does not depend on the number of workers. A part
 * without samples gives zeros. */
struct layer_sums {
    size_t (*count)(const struct layer *layer);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *in, float *ret_sums);
    void (*merge)(const struct layer *layer, const float *sums, size_t parts, float *ret_total);
    void (*backward)(const struct layer *layer, const struct layer_pass *pass, int n,
                     const float *in, const float *out, const float *d_out, float *ret_sums);
    void (*merge_back)(const struct layer *layer, const float *sums, size_t parts,
                       float *ret_total);
    /* Updates the running statistics. Called once per training step. */
    void (*learn)(const struct layer *layer, struct params *params, const float *total);
};

/* The operations of a layer. An operation is NULL if the layer does not need it. */
struct layer_ops {
    const char *kind; /* "conv" */
    int inputs;
    /* whether the layer may read the input of the network; then backward() must check
     * need_input_gradient */
    bool may_read_network_input;
    /* sets layer->out from layer->in; returns 0, or a negative code if the layer cannot have this
     * input */
    int (*infer)(struct layer *layer, struct err *err);
    void (*declare)(struct layer *layer, struct params *params); /* declares the parameters */
    size_t (*packed_count)(const struct layer *layer);
    /* Packs part `part` of `parts` parts; see struct conv_kernels. */
    void (*pack)(const struct layer *layer, const struct params *params, int part, int parts,
                 float *packed);
    size_t (*saved_count)(const struct layer *layer, int n);
    size_t (*scratch_count)(const struct layer *layer, int n);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *const *in, float *out);
    /* Sets d_in[i], or adds to it if accumulate[i] is set. */
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

/* A layer as a table of operations. The network asks each in turn for shapes, parameters and sizes
 * of memory, then runs it forward and back; a layer keeps no memory of its own, so that one network
 * can work on several parts of a batch, or in several threads, at once. */
#ifndef TRAINYARD_TRAIN_LAYER_H
#define TRAINYARD_TRAIN_LAYER_H

#include "train/kernels/kernels.h"
#include "train/layers/params.h"
#include "train/layers/tensor.h"

enum { LAYER_NAME_MAX = 40, LAYER_INPUTS_MAX = 2 };

struct layer {
    const struct layer_ops *ops;
    char name[LAYER_NAME_MAX]; /* prefix of its parameters */
    int input[LAYER_INPUTS_MAX];
    struct shape in, out; /* of one sample; two inputs have the same */
    size_t parameter[4];  /* indices: weights and bias, or scale and shift and what is kept */
    enum precision precision;
    const struct conv_kernels *kernels; /* to convolve; chosen by infer(), NULL where nothing is */
    union {
        struct {
            int channels, kernel, stride, pad;
        } conv; /* a depthwise one has the channels of its input */
        struct {
            int channels;
        } dense;
        struct {
            int groups; /* not of a batch norm */
            bool relu;
        } norm;
        struct {
            int window, stride; /* window 0: the whole picture */
        } pool;
        struct {
            bool relu;
        } bias;
        struct {
            int fields;
        } fm;
        struct {
            float rate; /* part of the values that becomes zero */
        } dropout;
    };
};

/* What chance depends on during training: nothing that says how a batch is shared. */
struct layer_draw {
    uint64_t seed, step;
    uint64_t position; /* of the first sample, in the batch of all workers */
};

/* What a layer may use during one pass. */
struct layer_pass {
    const struct kernels *kernels;
    const struct params *params;   /* values */
    float *gradients;              /* an arena laid out like params->gradients; added to */
    const float *packed;           /* made by pack() since the values changed */
    float *saved;                  /* kept from forward to backward */
    float *scratch;                /* kept for no longer than the call */
    const struct layer_draw *draw; /* NULL: this is not training, nothing is left to chance */
    bool need_input_gradient;      /* false for a layer that stands on the picture itself */
    /* Of the whole batch, forward and back, for a layer with sums; NULL: this is not training. */
    const float *total, *total_back;
};

/* What a layer must know of the whole batch, of all its parts and all workers, before it can go on.
 * Each part gives the same number of floats; they are merged in the order of the parts in the
 * batch, so that the result does not depend on who worked them off. A part without samples is all
 * zeros. */
struct layer_sums {
    size_t (*count)(const struct layer *layer);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *in, float *ret_sums);
    void (*merge)(const struct layer *layer, const float *sums, size_t parts, float *ret_total);
    void (*backward)(const struct layer *layer, const struct layer_pass *pass, int n,
                     const float *in, const float *out, const float *d_out, float *ret_sums);
    void (*merge_back)(const struct layer *layer, const float *sums, size_t parts,
                       float *ret_total);
    /* After a step that succeeded: what is kept beside the trained values follows the batch. */
    void (*learn)(const struct layer *layer, struct params *params, const float *total);
};

/* Functions that are NULL have nothing to do. */
struct layer_ops {
    const char *kind; /* "conv" */
    int inputs;
    bool reads_pictures; /* may stand on the network's input, which has no gradient */
    int (*infer)(struct layer *layer, struct err *err); /* layer->in is set; sets layer->out */
    void (*declare)(struct layer *layer, struct params *params);
    size_t (*packed_count)(const struct layer *layer);
    /* One of so many parts of it: see struct conv_kernels. */
    void (*pack)(const struct layer *layer, const struct params *params, int part, int parts,
                 float *packed);
    size_t (*saved_count)(const struct layer *layer, int n);
    size_t (*scratch_count)(const struct layer *layer, int n);
    void (*forward)(const struct layer *layer, const struct layer_pass *pass, int n,
                    const float *const *in, float *out);
    /* d_in[i] is set, or added to where accumulate[i]. */
    void (*backward)(const struct layer *layer, const struct layer_pass *pass, int n,
                     const float *const *in, const float *out, const float *d_out,
                     float *const *d_in, const bool *accumulate);
    const struct layer_sums *sums; /* of a layer that looks at the whole batch */
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

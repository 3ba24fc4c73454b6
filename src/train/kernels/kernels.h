/* The arithmetic of training: one function per operation. Layers and the team (train/team) call
 * these functions. The functions allocate nothing: the caller passes inputs, outputs and scratch
 * memory.
 *
 * A convolution in float32 has three implementations. `ref` is plain C and the specification.
 * `gemm` gathers patches (im2col) and multiplies them with OpenBLAS. `direct` is vector code, built
 * once per instruction set and chosen at run time. A convolution in bf16 has the specification
 * `ref_bf16`, `rounded` for every machine, and vector code. Tests compare the implementations with
 * each other. A dense layer is a convolution of one pixel with a window of one pixel. Gradients of
 * parameters are always added to the given memory, so that a batch can be computed in parts. */
#ifndef TRAINYARD_TRAIN_KERNELS_KERNELS_H
#define TRAINYARD_TRAIN_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/* The precision of the products in convolutions, except depthwise convolutions, and in dense
 * layers. With PRECISION_BF16 both factors of a product are rounded to bf16, and the sums of
 * products are float32. Parameters, activations and gradients are always float32 in memory. */
enum precision { PRECISION_FP32, PRECISION_BF16 };

const char *kernels_precision_name(enum precision precision); /* "fp32", "bf16" */

/* ---- Convolution: in[n,h,w,in], weights[kernel,kernel,in,out], out[n,oh,ow,out] ---- */

struct conv_shape {
    int n, h, w;
    int in, out; /* channels */
    int kernel;  /* pixels per side of the square window */
    int stride;
    int pad; /* pixels of zeros added on every side */
};

static inline int conv_out_h(const struct conv_shape *s)
{
    return (s->h + 2 * s->pad - s->kernel) / s->stride + 1;
}

static inline int conv_out_w(const struct conv_shape *s)
{
    return (s->w + 2 * s->pad - s->kernel) / s->stride + 1;
}

static inline size_t conv_weights_count(const struct conv_shape *s)
{
    return (size_t)s->kernel * (size_t)s->kernel * (size_t)s->in * (size_t)s->out;
}

static inline size_t conv_in_count(const struct conv_shape *s)
{
    return (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->in;
}

static inline size_t conv_out_count(const struct conv_shape *s)
{
    return (size_t)s->n * (size_t)conv_out_h(s) * (size_t)conv_out_w(s) * (size_t)s->out;
}

/* One implementation of convolution. `packed` has the weights in the order that the implementation
 * needs. pack() is called when the weights have changed, not before each pass. `scratch` has
 * scratch_count() floats of memory, which a function need not preserve for the next call. */
struct conv_kernels {
    const char *name;
    bool (*fits)(const struct conv_shape *s);            /* whether it can compute this shape */
    size_t (*packed_count)(const struct conv_shape *s);  /* number of floats */
    size_t (*scratch_count)(const struct conv_shape *s); /* number of floats, for s->n samples */
    /* Packs part number `part`, counted from 0, of `parts` parts. Several threads may pack
     * different parts at the same time, because no two parts write to the same memory. A part may
     * be empty. */
    void (*pack)(const struct conv_shape *s, const float *weights, int part, int parts,
                 float *packed);
    void (*forward)(const struct conv_shape *s, const float *in, const float *packed, float *out,
                    float *scratch);
    /* Sets d_in to the gradient of the input, or adds the gradient if `accumulate` is set. */
    void (*backward_data)(const struct conv_shape *s, const float *d_out, const float *packed,
                          float *d_in, bool accumulate, float *scratch);
    /* Adds the gradient of the weights to d_weights. */
    void (*backward_weights)(const struct conv_shape *s, const float *in, const float *d_out,
                             float *d_weights, float *scratch);
};

extern const struct conv_kernels ref_conv_kernels;
extern const struct conv_kernels ref_conv_kernels_bf16;
extern const struct conv_kernels conv_kernels_gemm;
extern const struct conv_kernels conv_kernels_rounded;

/* ---- Depthwise convolution: in[n,h,w,c], weights[kernel,kernel,c], out[n,oh,ow,c] ---- */

struct depthwise_shape {
    int n, h, w, c;
    int kernel, stride, pad; /* as in struct conv_shape */
};

static inline int depthwise_out_h(const struct depthwise_shape *s)
{
    return (s->h + 2 * s->pad - s->kernel) / s->stride + 1;
}

static inline int depthwise_out_w(const struct depthwise_shape *s)
{
    return (s->w + 2 * s->pad - s->kernel) / s->stride + 1;
}

struct depthwise_kernels {
    void (*forward)(const struct depthwise_shape *s, const float *in, const float *weights,
                    float *out);
    void (*backward_data)(const struct depthwise_shape *s, const float *d_out, const float *weights,
                          float *d_in, bool accumulate);
    void (*backward_weights)(const struct depthwise_shape *s, const float *in, const float *d_out,
                             float *d_weights); /* adds to d_weights */
};

extern const struct depthwise_kernels ref_depthwise_kernels;

/* ---- Vector code: one table per instruction set ---- */

/* x[rows][c] is any tensor, with one row per pixel and one column per channel. */
struct kernels {
    const char *name; /* "avx512" */
    const struct conv_kernels *conv;
    const struct depthwise_kernels *depthwise;
    /* channel_sum: sum[c] += Σ x. channel_square_sum: sum[c] += Σ (x − centre)². */
    void (*channel_sum)(const float *x, size_t rows, int c, float *sum);
    void (*channel_square_sum)(const float *x, size_t rows, int c, const float *centre, float *sum);
    /* y = x·scale + shift; if `relu`, negative results become 0 */
    void (*channel_affine)(const float *x, size_t rows, int c, const float *scale,
                           const float *shift, bool relu, float *y);
    /* sum_dy += Σ dy, sum_dy_x += Σ dy·(x − centre); if `y` is not NULL, only where y > 0 */
    void (*channel_gradient_sums)(const float *dy, const float *y, const float *x, size_t rows,
                                  int c, const float *centre, float *sum_dy, float *sum_dy_x);
    /* dx = dy·a + x·b + d + (accumulate ? dx : 0). If `y` is not NULL, dy counts as 0 where y is
     * not positive. */
    void (*channel_gradient)(const float *dy, const float *y, const float *x, size_t rows, int c,
                             const float *a, const float *b, const float *d, bool accumulate,
                             float *dx);
    void (*relu)(const float *in, size_t count, float *out);
    void (*add_relu)(const float *a, const float *b, size_t count, float *out);
    /* d_in = (out > 0 ? d_out : 0) + (accumulate ? d_in : 0) */
    void (*relu_gradient)(const float *d_out, const float *out, size_t count, bool accumulate,
                          float *d_in);
    /* Computes the gradient of a maximum for one pixel of its window. For each of the `c` channels
     * with in == out, adds `left` to d_in and sets `left` to 0, so that later pixels of the window
     * get nothing. */
    void (*max_gradient)(const float *in, const float *out, int c, float *left, float *d_in);
    /* Rounds each x to a multiple of `quantum`, which is a power of 2, and adds it to total. The
     * rounding is correct for magnitudes up to 2^22 quanta. A quantum of 0 means no rounding.
     * Returns the largest magnitude in x. */
    float (*add_rounded)(const float *x, float quantum, size_t count, float *total);
    void (*round_bf16)(const float *x, size_t count, float *out); /* rounds to bf16 */
};

/* Returns table number `position` of the tables that this build has and this machine can run,
 * fastest first. Returns NULL after the last table. The last table runs on every machine. */
const struct kernels *kernels_at(size_t position);
const struct kernels *kernels_best(void);

/* Returns implementation number `position` of the convolutions in bf16 that this build has and this
 * machine can run, fastest first. Returns NULL after the last one. One of them is `rounded`, which
 * runs on every machine and fits every shape. */
const struct conv_kernels *kernels_conv_bf16_at(size_t position);

/* Returns the fastest implementation for this shape and precision. In float32 this is `direct` of
 * the first table whose `direct` fits the shape, or `gemm` if none fits. */
const struct conv_kernels *kernels_choose_conv(const struct conv_shape *s,
                                               enum precision precision);

/* Writes the kernels in use, for the log of a run: "avx512", or "avx512, bf16 by amx". If OpenBLAS
 * cannot be loaded, the text says why. */
void kernels_sentence(enum precision precision, char *text, size_t size);

/* ---- Pooling ---- */

struct pool_shape {
    int n, h, w, c;
    int window, stride; /* no padding; a partial window at the end is left out */
};

static inline int pool_out_h(const struct pool_shape *s)
{
    return (s->h - s->window) / s->stride + 1;
}

static inline int pool_out_w(const struct pool_shape *s)
{
    return (s->w - s->window) / s->stride + 1;
}

/* The gradient of a maximum goes to the first position of the window that has the maximum. */
void pool_max_forward(const struct pool_shape *s, const float *in, float *out);
void pool_max_backward_ref(const struct pool_shape *s, const float *in, const float *out,
                           const float *d_out, float *d_in, bool accumulate);
/* scratch: c floats */
void pool_max_backward(const struct kernels *k, const struct pool_shape *s, const float *in,
                       const float *out, const float *d_out, float *d_in, bool accumulate,
                       float *scratch);
void pool_average_forward(const struct pool_shape *s, const float *in, float *out);
void pool_average_backward(const struct pool_shape *s, const float *d_out, float *d_in,
                           bool accumulate);

/* ---- L2 normalisation: rows of length 1 ---- */

/* out = in / |in|. Sets ret_norm[n] to |in|, for the backward pass. A row of zeros stays zero. */
void kernels_l2_normalise_forward(int n, int c, const float *in, float *out, float *ret_norm);
void kernels_l2_normalise_backward(int n, int c, const float *out, const float *norm,
                                   const float *d_out, float *d_in, bool accumulate);

/* ---- Group norm: mean and deviation of each group of channels of each sample ---- */

struct group_norm_shape {
    int n;
    size_t rows; /* pixels in a sample */
    int c, groups;
    bool relu; /* negative results become 0 in the same pass */
};

/* scale and shift have one value per channel. saved[n][groups][2] has the mean and 1 / standard
 * deviation of each group. The forward pass sets it for the backward pass. */
void ref_group_norm_forward(const struct group_norm_shape *s, const float *x, const float *scale,
                            const float *shift, float *y, float *saved);
void ref_group_norm_backward(const struct group_norm_shape *s, const float *x, const float *y,
                             const float *scale, const float *saved, const float *dy, float *dx,
                             bool accumulate, float *d_scale, float *d_shift);
/* scratch: 6·c floats */
void group_norm_forward(const struct kernels *k, const struct group_norm_shape *s, const float *x,
                        const float *scale, const float *shift, float *y, float *saved,
                        float *scratch);
void group_norm_backward(const struct kernels *k, const struct group_norm_shape *s, const float *x,
                         const float *y, const float *scale, const float *saved, const float *dy,
                         float *dx, bool accumulate, float *d_scale, float *d_shift,
                         float *scratch);

#define NORM_EPSILON 1e-5f /* added to a variance, so that no division is by 0 */

/* ---- Batch norm: mean and deviation of each channel of the whole batch ---- */

struct batch_norm_shape {
    int n;       /* samples in this part of the batch */
    size_t rows; /* pixels in a sample */
    int c;
    bool relu; /* negative results become 0 in the same pass */
};

/* Returns the number of floats that batch_norm_sums() and batch_norm_gradient_sums() set for one
 * part: a count, and two numbers per channel. */
static inline size_t batch_norm_sum_count(int channels)
{
    return 1 + 2 * (size_t)channels;
}

/* The references compute a whole batch at once. */
void ref_batch_norm_forward(const struct batch_norm_shape *s, const float *x, const float *scale,
                            const float *shift, float *y, float *ret_mean, float *ret_variance);
void ref_batch_norm_backward(const struct batch_norm_shape *s, const float *x, const float *y,
                             const float *scale, const float *mean, const float *variance,
                             const float *dy, float *dx, bool accumulate, float *d_scale,
                             float *d_shift);

/* Forward pass: batch_norm_sums() sets the count, the means and the sums of squared distances from
 * these means, of one part. batch_norm_merge() merges the sums of all parts into count, means and
 * variances of the batch. */
void batch_norm_sums(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                     float *ret_sums);
void batch_norm_merge(int channels, const float *sums, size_t parts, float *ret_total);
/* scratch: 2·c floats */
void batch_norm_forward(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                        const float *mean, const float *variance, const float *scale,
                        const float *shift, float *y, float *scratch);

/* Backward pass: batch_norm_gradient_sums() sets the count, Σ dy and Σ dy·(x − mean) of one part.
 * batch_norm_merge_gradient() adds up the sums of all parts. */
void batch_norm_gradient_sums(const struct kernels *k, const struct batch_norm_shape *s,
                              const float *x, const float *y, const float *mean, const float *dy,
                              float *ret_sums);
void batch_norm_merge_gradient(int channels, const float *sums, size_t parts, float *ret_total);
/* `total` is the result of batch_norm_merge_gradient(), or NULL if mean and variance are constants.
 * scratch: 3·c floats */
void batch_norm_backward(const struct kernels *k, const struct batch_norm_shape *s, const float *x,
                         const float *y, const float *mean, const float *variance,
                         const float *scale, const float *total, const float *dy, float *dx,
                         bool accumulate, float *scratch);
/* Returns the standard deviation by which a channel is divided: √(variance + NORM_EPSILON). */
float batch_norm_deviation(float variance);

#endif

/* Computes the positions of a convolution's pixels in memory. The output and the gradient of the
 * input are computed by the same kind of product. Every target pixel reads some runs of contiguous
 * values from a source, which has a border of zeros, and multiplies them with a matrix of weights.
 * A walk describes the target pixels and their runs, for the forward pass or for one phase of the
 * backward pass (see struct conv_phase). The vector kernels loop over a walk. This header only
 * computes offsets. */
#ifndef TRAINYARD_TRAIN_KERNELS_CONV_WALK_H
#define TRAINYARD_TRAIN_KERNELS_CONV_WALK_H

#include "train/kernels/kernels.h"

/* `from` is the offset of the first pixel in the source. from_n, from_y and from_x are the
 * distances in the source from one picture, line or pixel of the target to the next. `to`, to_n,
 * to_y and to_x are the same in the target. A run has `length` values, and the runs of one target
 * pixel are run_stride apart. All these are counted in values. */
struct conv_walk {
    int n, h, w; /* number of pictures, lines and pixels per line in the target */
    size_t from, from_n, from_y, from_x;
    size_t to, to_n, to_y, to_x;
    int runs; /* number of runs that one target pixel reads */
    size_t length, run_stride;
};

/* Returns the offset in the source of the first run of the first target pixel of line y of picture
 * n. */
static inline size_t conv_walk_from(const struct conv_walk *walk, int n, int y)
{
    return walk->from + (size_t)n * walk->from_n + (size_t)y * walk->from_y;
}

/* Returns the offset in the target of the first target pixel of line y of picture n. */
static inline size_t conv_walk_to(const struct conv_walk *walk, int n, int y)
{
    return walk->to + (size_t)n * walk->to_n + (size_t)y * walk->to_y;
}

/* Returns the number of values that one target pixel reads. */
static inline size_t conv_walk_depth(const struct conv_walk *walk)
{
    return (size_t)walk->runs * walk->length;
}

/* Returns the size, in values, of the source of the forward pass: the input with its border. */
static inline size_t conv_bordered_count(const struct conv_shape *s)
{
    return (size_t)s->n * (size_t)(s->h + 2 * s->pad) * (size_t)(s->w + 2 * s->pad) * (size_t)s->in;
}

static inline struct conv_walk conv_walk_forward(const struct conv_shape *s)
{
    int h = s->h + 2 * s->pad, w = s->w + 2 * s->pad, oh = conv_out_h(s), ow = conv_out_w(s);
    size_t pixel = (size_t)s->in, line = (size_t)w * pixel, to = (size_t)s->out;
    return (struct conv_walk){
        .n = s->n,
        .h = oh,
        .w = ow,
        .from_n = (size_t)h * line,
        .from_y = (size_t)s->stride * line,
        .from_x = (size_t)s->stride * pixel,
        .to_n = (size_t)oh * (size_t)ow * to,
        .to_y = (size_t)ow * to,
        .to_x = to,
        .runs = s->kernel,
        .length = (size_t)s->kernel * pixel,
        .run_stride = line,
    };
}

/* The target pixels of one axis in the backward pass are divided into phases: pixel number stride·i
 * + phase belongs to phase `phase`. All pixels of a phase use the same taps of the window:
 * kernel_first, kernel_first + stride, and so on. A later tap belongs to an earlier output
 * position. The last tap belongs to output position i + offset, the tap before it to the next
 * position, and so on. */
struct conv_phase {
    int count;        /* number of pixels of the axis in this phase */
    int taps;         /* number of taps of the window that the pixels use */
    int kernel_first; /* the first of these taps */
    int offset; /* from the number of a pixel in the phase to the output position of its last tap */
};

static inline struct conv_phase conv_phase_of(const struct conv_shape *s, int size, int phase)
{
    int first = (phase + s->pad) % s->stride;
    int taps = first < s->kernel ? (s->kernel - first + s->stride - 1) / s->stride : 0;
    return (struct conv_phase){
        .count = size > phase ? (size - phase + s->stride - 1) / s->stride : 0,
        .taps = taps,
        .kernel_first = first,
        .offset = (phase + s->pad - first) / s->stride - (taps - 1),
    };
}

/* Returns the width of the border of zeros above and left of the source of the backward pass, which
 * is a copy of the gradient of the output. The border covers every tap of every phase. */
static inline int conv_back_border(const struct conv_shape *s)
{
    return (s->kernel - 1) / s->stride + 1;
}

/* Returns the size of the source of the backward pass along one axis, including its border, for
 * `out` output positions and `size` input pixels. */
static inline int conv_back_size(const struct conv_shape *s, int out, int size)
{
    int reach = (size - 1 + s->pad) / s->stride + 1;
    return conv_back_border(s) + (reach > out ? reach : out) + 1;
}

/* Returns the size, in values, of the source of the backward pass. */
static inline size_t conv_back_count(const struct conv_shape *s)
{
    return (size_t)s->n * (size_t)conv_back_size(s, conv_out_h(s), s->h) *
           (size_t)conv_back_size(s, conv_out_w(s), s->w) * (size_t)s->out;
}

/* Returns the walk of one of the stride² phases, which are counted row by row. Its depth is 0 if
 * the pixels of the phase are in no window. */
static inline struct conv_walk conv_walk_back(const struct conv_shape *s, int phase)
{
    int py = phase / s->stride, px = phase % s->stride, border = conv_back_border(s);
    struct conv_phase y = conv_phase_of(s, s->h, py), x = conv_phase_of(s, s->w, px);
    int h = conv_back_size(s, conv_out_h(s), s->h), w = conv_back_size(s, conv_out_w(s), s->w);
    size_t pixel = (size_t)s->out, line = (size_t)w * pixel;
    size_t to = (size_t)s->in, to_line = (size_t)s->w * to;
    return (struct conv_walk){
        .n = s->n,
        .h = y.count,
        .w = x.count,
        .from = (size_t)(border + y.offset) * line + (size_t)(border + x.offset) * pixel,
        .from_n = (size_t)h * line,
        .from_y = line,
        .from_x = pixel,
        .to = (size_t)py * to_line + (size_t)px * to,
        .to_n = (size_t)s->h * to_line,
        .to_y = (size_t)s->stride * to_line,
        .to_x = (size_t)s->stride * to,
        .runs = y.taps,
        .length = (size_t)x.taps * pixel,
        .run_stride = line,
    };
}

#endif

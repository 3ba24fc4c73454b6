/* Convolution with OpenBLAS: patches are gathered into rows (im2col) and multiplied.
 * kernels_choose_conv() selects it for shapes that the direct kernels do not support, and
 * conv_direct.c uses it for some gradients of inputs. A batch is processed in parts, so that the
 * gathered rows stay in the second-level cache. */
#include "train/kernels/blas.h"
#include "train/kernels/kernels.h"

#include <string.h>

enum { GATHER_FLOATS = 256 * 1024 }; /* A part has at most 1 MiB of gathered rows, or one sample. */

static bool gemm_fits(const struct conv_shape *s)
{
    return true;
}

static size_t gemm_packed_count(const struct conv_shape *s)
{
    return conv_weights_count(s);
}

static void gemm_pack(const struct conv_shape *s, const float *weights, int part, int parts,
                      float *packed)
{
    (void)parts;
    if (part == 0)
        memcpy(packed, weights, conv_weights_count(s) * sizeof(*weights));
}

static size_t patch_size(const struct conv_shape *s)
{
    return (size_t)s->kernel * (size_t)s->kernel * (size_t)s->in;
}

static size_t sample_rows(const struct conv_shape *s)
{
    return (size_t)conv_out_h(s) * (size_t)conv_out_w(s);
}

static int samples_at_once(const struct conv_shape *s)
{
    size_t fit = GATHER_FLOATS / (sample_rows(s) * patch_size(s));
    return fit < 1 ? 1 : fit < (size_t)s->n ? (int)fit : s->n;
}

static size_t gemm_scratch_count(const struct conv_shape *s)
{
    return (size_t)samples_at_once(s) * sample_rows(s) * patch_size(s);
}

static void gather_patches(const struct conv_shape *s, int samples, const float *in, float *rows)
{
    int oh = conv_out_h(s), ow = conv_out_w(s);
    size_t line = (size_t)s->kernel * (size_t)s->in;
    for (int n = 0; n < samples; n++)
        for (int oy = 0; oy < oh; oy++)
            for (int ox = 0; ox < ow; ox++)
                for (int ky = 0; ky < s->kernel; ky++, rows += line) {
                    int y = oy * s->stride + ky - s->pad, x = ox * s->stride - s->pad;
                    if (y < 0 || y >= s->h) {
                        memset(rows, 0, line * sizeof(*rows));
                        continue;
                    }
                    int first = x < 0 ? -x : 0;
                    int last = x + s->kernel > s->w ? s->w - x : s->kernel;
                    if (last < first)
                        last = first;
                    const float *from =
                        in + (((size_t)n * (size_t)s->h + (size_t)y) * (size_t)s->w +
                              (size_t)(x + first)) *
                                 (size_t)s->in;
                    size_t before = (size_t)first * (size_t)s->in,
                           inside = (size_t)(last - first) * (size_t)s->in;
                    memset(rows, 0, before * sizeof(*rows));
                    memcpy(rows + before, from, inside * sizeof(*rows));
                    memset(rows + before + inside, 0, (line - before - inside) * sizeof(*rows));
                }
}

static void scatter_add(const struct conv_shape *s, int samples, const float *rows, float *d_in)
{
    int oh = conv_out_h(s), ow = conv_out_w(s);
    for (int n = 0; n < samples; n++)
        for (int oy = 0; oy < oh; oy++)
            for (int ox = 0; ox < ow; ox++)
                for (int ky = 0; ky < s->kernel; ky++)
                    for (int kx = 0; kx < s->kernel; kx++, rows += s->in) {
                        int y = oy * s->stride + ky - s->pad, x = ox * s->stride + kx - s->pad;
                        if (y < 0 || y >= s->h || x < 0 || x >= s->w)
                            continue;
                        float *to = d_in + (((size_t)n * (size_t)s->h + (size_t)y) * (size_t)s->w +
                                            (size_t)x) *
                                               (size_t)s->in;
                        for (int i = 0; i < s->in; i++)
                            to[i] += rows[i];
                    }
}

static void gemm_forward(const struct conv_shape *s, const float *in, const float *weights,
                         float *out, float *scratch)
{
    int part = samples_at_once(s), k = (int)patch_size(s);
    size_t in_sample = (size_t)s->h * (size_t)s->w * (size_t)s->in;
    for (int n = 0; n < s->n; n += part) {
        int now = s->n - n < part ? s->n - n : part;
        gather_patches(s, now, in + (size_t)n * in_sample, scratch);
        struct product product = {.m = now * (int)sample_rows(s), .n = s->out, .k = k};
        blas_product(&product, scratch, weights, out + (size_t)n * sample_rows(s) * (size_t)s->out);
    }
}

static void gemm_backward_data(const struct conv_shape *s, const float *d_out, const float *weights,
                               float *d_in, bool accumulate, float *scratch)
{
    int part = samples_at_once(s), k = (int)patch_size(s);
    size_t in_sample = (size_t)s->h * (size_t)s->w * (size_t)s->in;
    if (!accumulate)
        memset(d_in, 0, (size_t)s->n * in_sample * sizeof(*d_in));
    for (int n = 0; n < s->n; n += part) {
        int now = s->n - n < part ? s->n - n : part;
        struct product product = {
            .m = now * (int)sample_rows(s), .n = k, .k = s->out, .b_transposed = true};
        blas_product(&product, d_out + (size_t)n * sample_rows(s) * (size_t)s->out, weights,
                     scratch);
        scatter_add(s, now, scratch, d_in + (size_t)n * in_sample);
    }
}

static void gemm_backward_weights(const struct conv_shape *s, const float *in, const float *d_out,
                                  float *d_weights, float *scratch)
{
    int part = samples_at_once(s), k = (int)patch_size(s);
    size_t in_sample = (size_t)s->h * (size_t)s->w * (size_t)s->in;
    for (int n = 0; n < s->n; n += part) {
        int now = s->n - n < part ? s->n - n : part;
        gather_patches(s, now, in + (size_t)n * in_sample, scratch);
        struct product product = {
            .m = k, .n = s->out, .k = now * (int)sample_rows(s), .a_transposed = true, .add = true};
        blas_product(&product, scratch, d_out + (size_t)n * sample_rows(s) * (size_t)s->out,
                     d_weights);
    }
}

const struct conv_kernels conv_kernels_gemm = {
    .name = "gemm",
    .fits = gemm_fits,
    .packed_count = gemm_packed_count,
    .scratch_count = gemm_scratch_count,
    .pack = gemm_pack,
    .forward = gemm_forward,
    .backward_data = gemm_backward_data,
    .backward_weights = gemm_backward_weights,
};

/* The convolutions of the face model and of the classifier, and a plain matrix product, with every
 * implementation for this processor: float32 and bf16, each compared with im2col and OpenBLAS in
 * float32. One thread, CPU time, the best of several rounds. Prints GFLOP/s of forward / backward
 * to the input / backward to the weights.
 *
 * It can be built with only a C compiler and OpenBLAS (Debian: gcc libopenblas-dev):
 *
 *   tests/bench/kernels
 *
 * With `json` it prints one line per network, precision and direction instead of the table: all
 * convolutions of the network, with the kernels that training chooses. OPENBLAS_CORETYPE=SkylakeX
 * helps OpenBLAS 0.3.21 on processors that it does not know. */
#include "train/kernels/kernels.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum direction { FORWARD, DATA, WEIGHTS, DIRECTIONS };

static const char *const DIRECTION_NAMES[] = {"forward", "to input", "to weights"};

/* The first number is the pictures per call, as training splits a batch: 8 of 64×64, or 32 of
 * 28×28. */
static const struct conv_shape FACE[] = {
    {8, 64, 64, 1, 16, 3, 2, 1},  {8, 32, 32, 16, 32, 3, 2, 1},  {8, 16, 16, 32, 32, 3, 1, 1},
    {8, 32, 32, 16, 32, 1, 2, 0}, {8, 16, 16, 32, 64, 3, 2, 1},  {8, 8, 8, 64, 64, 3, 1, 1},
    {8, 16, 16, 32, 64, 1, 2, 0}, {8, 8, 8, 64, 96, 3, 2, 1},    {8, 4, 4, 96, 96, 3, 1, 1},
    {8, 8, 8, 64, 96, 1, 2, 0},   {8, 1, 1, 1536, 128, 1, 1, 0},
};
static const struct conv_shape CLASSIFIER[] = {
    {32, 28, 28, 1, 32, 5, 1, 2},
    {32, 14, 14, 32, 64, 5, 1, 2},
    {32, 1, 1, 3136, 1024, 1, 1, 0},
    {32, 1, 1, 1024, 10, 1, 1, 0},
};

static const struct {
    const char *name;
    const struct conv_shape *shapes;
    size_t count;
} NETWORKS[] = {
    {"face", FACE, sizeof(FACE) / sizeof(FACE[0])},
    {"classifier", CLASSIFIER, sizeof(CLASSIFIER) / sizeof(CLASSIFIER[0])},
};

/* All buffers of a shape, filled with numbers between -0.5 and 0.5. */
struct arena {
    float *in, *weights, *out, *d_in, *d_weights, *packed, *scratch;
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static float *floats(size_t count)
{
    float *data = aligned_alloc(64, (count * sizeof(*data) + 63) / 64 * 64 + 64);
    if (!data) {
        fprintf(stderr, "bench_kernels: out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((i * 2654435761u >> 8 & 0xffff) / 65536.0 - 0.5);
    return data;
}

static struct arena arena_new(const struct conv_kernels *kernels, const struct conv_shape *s)
{
    struct arena a = {.in = floats(conv_in_count(s)),
                      .weights = floats(conv_weights_count(s)),
                      .out = floats(conv_out_count(s)),
                      .d_in = floats(conv_in_count(s)),
                      .d_weights = floats(conv_weights_count(s)),
                      .packed = floats(kernels->packed_count(s)),
                      .scratch = floats(kernels->scratch_count(s))};
    kernels->pack(s, a.weights, 0, 1, a.packed);
    return a;
}

static void arena_release(struct arena *a)
{
    free(a->in), free(a->weights), free(a->out), free(a->d_in), free(a->d_weights);
    free(a->packed), free(a->scratch);
}

static void call(const struct conv_kernels *kernels, const struct conv_shape *s, struct arena *a,
                 enum direction direction)
{
    if (direction == FORWARD)
        kernels->forward(s, a->in, a->packed, a->out, a->scratch);
    else if (direction == DATA)
        kernels->backward_data(s, a->out, a->packed, a->d_in, false, a->scratch);
    else
        kernels->backward_weights(s, a->in, a->out, a->d_weights, a->scratch);
}

/* Seconds of one call: the best of several rounds of at least a few milliseconds. */
static double measure(const struct conv_kernels *kernels, const struct conv_shape *s,
                      enum direction direction)
{
    struct arena a = arena_new(kernels, s);
    double best = 1e9;
    int calls = 1;
    for (int round = 0; round < 6;) {
        double start = now_s();
        for (int i = 0; i < calls; i++)
            call(kernels, s, &a, direction);
        double took = now_s() - start;
        if (took < 3e-3) { /* too short for the resolution of the clock */
            calls *= 2;
            continue;
        }
        best = took / calls < best ? took / calls : best;
        round++;
    }
    arena_release(&a);
    return best;
}

static double work(const struct conv_shape *s)
{
    double pixels = (double)s->n * conv_out_h(s) * conv_out_w(s);
    return 2e-9 * pixels * s->kernel * s->kernel * s->in * s->out;
}

static void print_way(const char *name, const struct conv_kernels *kernels,
                      const struct conv_shape *s)
{
    printf("  %-18s", name);
    for (enum direction d = FORWARD; d < DIRECTIONS; d++)
        printf("%9.1f", work(s) / measure(kernels, s, d));
    printf("\n");
}

static void print_shape(const struct conv_shape *s)
{
    if (s->h == 1)
        printf("dense %d → %d, %d samples\n", s->in, s->out, s->n);
    else
        printf("%d×%d, %d → %d, window %d, stride %d, %d pictures\n", s->h, s->w, s->in, s->out,
               s->kernel, s->stride, s->n);
    print_way("im2col + OpenBLAS", &conv_kernels_gemm, s);
    for (size_t i = 0; kernels_at(i); i++)
        if (kernels_at(i)->conv->fits(s))
            print_way(kernels_at(i)->name, kernels_at(i)->conv, s);
    for (size_t i = 0; kernels_conv_bf16_at(i); i++) {
        char name[64];
        snprintf(name, sizeof(name), "bf16 %s", kernels_conv_bf16_at(i)->name);
        if (kernels_conv_bf16_at(i)->fits(s))
            print_way(name, kernels_conv_bf16_at(i), s);
    }
}

static double measure_sgemm(int n)
{
    size_t count = (size_t)n * (size_t)n;
    float *a = floats(count), *b = floats(count), *c = floats(count);
    double best = 1e9;
    for (int round = 0; round < 6; round++) {
        double start = now_s();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
        best = now_s() - start < best ? now_s() - start : best;
    }
    free(a), free(b), free(c);
    return best;
}

/* Prints one network, precision and direction, with OpenBLAS as its peer. */
static void print_line(size_t network, enum precision precision, enum direction direction)
{
    double ours = 0, theirs = 0, flops = 0;
    for (size_t i = 0; i < NETWORKS[network].count; i++) {
        const struct conv_shape *s = &NETWORKS[network].shapes[i];
        if (direction == DATA && s->in == 1)
            continue; /* training does not compute the gradient of a picture */
        flops += work(s);
        ours += measure(kernels_choose_conv(s, precision), s, direction);
        theirs += measure(&conv_kernels_gemm, s, direction);
    }
    printf("{\"name\":\"kernels %s %s %s\",\"value\":%.1f,\"unit\":\"GFLOP/s\","
           "\"peer\":\"im2col + OpenBLAS fp32\",\"peer_value\":%.1f}\n",
           NETWORKS[network].name, DIRECTION_NAMES[direction], kernels_precision_name(precision),
           flops / ours, flops / theirs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const size_t networks = sizeof(NETWORKS) / sizeof(NETWORKS[0]);
    openblas_set_num_threads(1);
    if (argc > 1 && strcmp(argv[1], "json") == 0) {
        for (size_t i = 0; i < networks; i++)
            for (enum precision p = PRECISION_FP32; p <= PRECISION_BF16; p++)
                for (enum direction d = FORWARD; d < DIRECTIONS; d++)
                    print_line(i, p, d);
        return 0;
    }
    printf("GFLOP/s, one thread %21s%9s%11s\n", DIRECTION_NAMES[FORWARD], DIRECTION_NAMES[DATA],
           DIRECTION_NAMES[WEIGHTS]);
    for (size_t i = 0; i < networks; i++)
        for (size_t j = 0; j < NETWORKS[i].count; j++)
            print_shape(&NETWORKS[i].shapes[j]);
    const int n = 512;
    struct conv_shape product = {n, 1, 1, n, n, 1, 1, 0};
    printf("cblas_sgemm %d × %d × %d: %.1f\n", n, n, n, work(&product) / measure_sgemm(n));
    print_shape(&product);
    return 0;
}

/* Chooses the vector code for this machine. The choice depends on the instruction sets that were
 * compiled, those that the processor has, and whether Linux permits AMX tiles. None of these can
 * change while the process runs, so each call makes the same choice and nothing is cached. */
#include "train/kernels/blas.h"
#include "train/kernels/kernels.h"

#include <stdio.h>
#include <string.h>

extern const struct kernels kernels_plain;
#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const struct kernels kernels_avx2, kernels_avx512;
extern const struct conv_kernels conv_amx, conv_avx512_bf16;

static bool have_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

static bool have_avx512_bf16(void)
{
    unsigned a, b, c, d;
    return have_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 5 & 1;
}

/* The register state of AMX tiles is large, so Linux (5.16 and later) permits tiles only to
 * processes that request them. The seccomp filter of a container may reject the request. The
 * request may be repeated. */
static bool have_amx(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    unsigned a, b, c, d;
    if (!have_avx512_bf16() || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    bool tiles = d >> 24 & 1, products = d >> 22 & 1;
    return tiles && products &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#elif defined(__aarch64__)
#include <sys/auxv.h>

extern const struct kernels kernels_neon;
extern const struct conv_kernels conv_bfmmla;

static bool have_bf16(void)
{
    enum { BF16 = 1 << 14 }; /* HWCAP2_BF16, which is missing in old headers */
    return getauxval(AT_HWCAP2) & BF16;
}
#endif

const struct kernels *kernels_at(size_t position)
{
    const struct kernels *found[3];
    size_t count = 0;
#ifdef __x86_64__
    if (have_avx512())
        found[count++] = &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found[count++] = &kernels_avx2;
#elif defined(__aarch64__)
    found[count++] = &kernels_neon; /* every aarch64 processor has NEON */
#endif
    found[count++] = &kernels_plain;
    return position < count ? found[position] : NULL;
}

const struct kernels *kernels_best(void)
{
    return kernels_at(0);
}

const struct conv_kernels *kernels_conv_bf16_at(size_t position)
{
    const struct conv_kernels *found[3];
    size_t count = 0;
#ifdef __x86_64__
    /* Compared to float32 products, Intel's processors compute the products of AVX512-BF16 at half
     * the rate, and AMD's at twice the rate. */
    bool have_bf16 = have_avx512_bf16(), slow = have_bf16 && __builtin_cpu_is("intel");
    if (have_amx())
        found[count++] = &conv_amx;
    if (have_bf16 && !slow)
        found[count++] = &conv_avx512_bf16;
    found[count++] = &conv_kernels_rounded;
    if (slow)
        found[count++] = &conv_avx512_bf16;
#else
#ifdef __aarch64__
    if (have_bf16())
        found[count++] = &conv_bfmmla;
#endif
    found[count++] = &conv_kernels_rounded;
#endif
    return position < count ? found[position] : NULL;
}

const struct conv_kernels *kernels_choose_conv(const struct conv_shape *s, enum precision precision)
{
    if (precision == PRECISION_BF16)
        /* the loop ends, because conv_kernels_rounded fits every shape */
        for (size_t i = 0;; i++)
            if (kernels_conv_bf16_at(i)->fits(s))
                return kernels_conv_bf16_at(i);
    for (size_t i = 0; kernels_at(i); i++)
        if (kernels_at(i)->conv->fits(s))
            return kernels_at(i)->conv;
    return &conv_kernels_gemm;
}

const char *kernels_precision_name(enum precision precision)
{
    return precision == PRECISION_BF16 ? "bf16" : "fp32";
}

void kernels_sentence(enum precision precision, char *text, size_t size)
{
    if (precision == PRECISION_BF16)
        snprintf(text, size, "%s, bf16 by %s", kernels_best()->name, kernels_conv_bf16_at(0)->name);
    else
        snprintf(text, size, "%s", kernels_best()->name);
    size_t end = strlen(text);
    if (blas_missing())
        snprintf(text + end, size - end, ", without OpenBLAS (%s)", blas_missing());
}

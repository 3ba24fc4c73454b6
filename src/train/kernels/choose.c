/* Which vector code this machine runs: the build lists what it made, the processor says what it
 * has. Decided anew at each call, from facts that never change; nothing is kept. */
#include "train/kernels/kernels.h"

extern const struct kernels kernels_plain;
#ifdef __x86_64__
extern const struct kernels kernels_avx2, kernels_avx512;
#endif

const struct kernels *kernels_at(size_t position)
{
    const struct kernels *found[3];
    size_t count = 0;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        found[count++] = &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found[count++] = &kernels_avx2;
#endif
    found[count++] = &kernels_plain;
    return position < count ? found[position] : NULL;
}

const struct kernels *kernels_best(void)
{
    return kernels_at(0);
}

const struct conv_kernels *conv_kernels_choose(const struct conv_shape *s)
{
    for (size_t i = 0; kernels_at(i); i++)
        if (kernels_at(i)->conv->fits(s))
            return kernels_at(i)->conv;
    return &conv_kernels_gemm;
}

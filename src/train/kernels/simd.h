/* Types and macros of the vector kernels, in portable C with the vector types of the compiler. The
 * files that include this header are built once per instruction set. The build sets KERNELS_NAME (a
 * suffix of their symbols) and KERNELS_LANES (floats per vector). */
#ifndef TRAINYARD_TRAIN_KERNELS_SIMD_H
#define TRAINYARD_TRAIN_KERNELS_SIMD_H

#include "train/kernels/kernels.h"

#define SIMD_PASTE2(a, b) a##_##b
#define SIMD_PASTE(a, b)  SIMD_PASTE2(a, b)
#define SIMD(name)        SIMD_PASTE(name, KERNELS_NAME)

#define SIMD_TEXT2(a) #a
#define SIMD_TEXT(a)  SIMD_TEXT2(a)

extern const struct conv_kernels SIMD(conv_direct); /* float32, conv_direct.c */
extern const struct conv_kernels SIMD(conv);        /* bf16, conv_bf16.c */
extern const struct depthwise_kernels SIMD(depthwise);
extern const struct kernels SIMD(kernels);

enum { LANES = KERNELS_LANES };

typedef float vec __attribute__((vector_size(KERNELS_LANES * 4)));
/* A vector in memory needs only the alignment of a float. At an aligned address an unaligned load
 * is as fast as an aligned load. */
typedef float vec_memory __attribute__((vector_size(KERNELS_LANES * 4), aligned(4), may_alias));

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE vec simd_load(const float *from)
{
    return *(const vec_memory *)from;
}

ALWAYS_INLINE void simd_store(float *to, vec value)
{
    *(vec_memory *)to = value;
}

#endif

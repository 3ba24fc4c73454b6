/* Adding what came over the wire; see reduce.h. Written so that the compiler makes vectors of it
 * for every machine this file is cloned for; an element's sum does not depend on the width. */
#include "comm/reduce.h"

#include <string.h>

#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(target_clones) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef WIDEST
#define WIDEST
#endif

WIDEST void reduce_add_f32(float *restrict sum, const void *restrict other, size_t count)
{
    const char *restrict from = other;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof(value), sizeof(value));
        sum[i] += value;
    }
}

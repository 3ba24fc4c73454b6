/* For functions whose loops the compiler should make vectors of for every machine: each is built
 * once for plain x86-64, once for AVX2, once for AVX-512, and the loader takes the best. Only for
 * loops whose result does not depend on how wide the vectors are. Elsewhere, and with sanitizers
 * that run before the loader has chosen, it is the plain function. */
#ifndef TRAINYARD_BASE_WIDEST_H
#define TRAINYARD_BASE_WIDEST_H

#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(target_clones) && !defined(__clang__) && !defined(SANITIZED)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef WIDEST
#define WIDEST
#endif

#endif

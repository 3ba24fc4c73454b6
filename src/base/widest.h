/* WIDEST marks a function whose loops the compiler vectorizes. The function is compiled for plain
 * x86-64, AVX2 and AVX-512, and the loader picks the best version for the machine. Only for loops
 * whose result does not depend on the width of the vectors. On other architectures, with clang and
 * in sanitized builds it has no effect: sanitizers run before the loader has chosen. */
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

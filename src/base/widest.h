/* WIDEST is an attribute for a function whose loops the compiler vectorizes. The function is
 * compiled for plain x86-64, AVX2 and AVX-512, and the dynamic loader selects the best version for
 * the machine. Use it only if the result does not depend on the width of the vectors. It has no
 * effect on other architectures, with clang and in sanitized builds. Sanitized builds cannot use
 * it, because the code that selects a version runs before the sanitizer is ready. */
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

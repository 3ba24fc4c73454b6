/* Matrix products by OpenBLAS, for conv_gemm.c. The library is loaded for the first product. Before
 * that it is told to start no threads: the threads of a team already share the work, and OpenBLAS
 * would start its own at once, even for `trainer --help`. */
#ifndef TRAINYARD_TRAIN_KERNELS_BLAS_H
#define TRAINYARD_TRAIN_KERNELS_BLAS_H

#include <stdbool.h>

/* c[m][n] = op(a)·op(b) + (add ? c : 0); all rows are contiguous. op(a) is m × k. A matrix that is
 * `turned` is stored transposed. Several threads may compute products at the same time. */
struct product {
    int m, n, k;
    bool a_turned, b_turned, add;
};

void blas_product(const struct product *p, const float *a, const float *b, float *c);

/* The same product in plain loops: the reference, and the fallback if OpenBLAS cannot be loaded. */
void blas_product_ref(const struct product *p, const float *a, const float *b, float *c);

/* Returns why products are computed in plain loops, or NULL if OpenBLAS is used. */
const char *blas_missing(void);

#endif

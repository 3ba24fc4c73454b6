/* Matrix products by OpenBLAS, for conv_gemm.c. The first call of blas_product() or blas_missing()
 * loads the library. An environment variable prevents OpenBLAS from starting threads, because the
 * threads of a team already share the work. */
#ifndef TRAINYARD_TRAIN_KERNELS_BLAS_H
#define TRAINYARD_TRAIN_KERNELS_BLAS_H

#include <stdbool.h>

/* c[m][n] = a[m][k] × b[k][n] + (add ? c : 0). All rows are contiguous. If a_transposed or
 * b_transposed is set, that matrix is stored transposed. Several threads may compute products at
 * the same time. */
struct product {
    int m, n, k;
    bool a_transposed, b_transposed, add;
};

void blas_product(const struct product *p, const float *a, const float *b, float *c);

/* The same product in plain loops: the reference, and the fallback if OpenBLAS cannot be loaded. */
void blas_product_ref(const struct product *p, const float *a, const float *b, float *c);

/* Returns why products are computed in plain loops, or NULL if OpenBLAS is used. */
const char *blas_missing(void);

#endif

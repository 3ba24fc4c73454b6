/* A product of two matrices by OpenBLAS, for conv_gemm.c. The library is loaded when the first
 * product is asked for, and told before that to start no threads: the threads of a team share the
 * work already, and those of OpenBLAS would be there from the start, also for `trainer --help`. */
#ifndef TRAINYARD_TRAIN_KERNELS_BLAS_H
#define TRAINYARD_TRAIN_KERNELS_BLAS_H

#include <stdbool.h>

/* c[m][n] = op(a)·op(b) + (add ? c : 0), all rows without gaps. op(a) is m × k: what is `turned`
 * is stored the other way round. Safe from several threads at once. */
struct product {
    int m, n, k;
    bool a_turned, b_turned, add;
};

void blas_product(const struct product *p, const float *a, const float *b, float *c);

/* The same in plain loops: the reference, and what is done where OpenBLAS cannot be loaded. */
void blas_product_ref(const struct product *p, const float *a, const float *b, float *c);

/* Why products are done in plain loops; NULL if OpenBLAS does them. */
const char *blas_missing(void);

#endif

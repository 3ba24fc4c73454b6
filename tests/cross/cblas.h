/* What the kernels use of OpenBLAS, in plain loops, for a processor whose OpenBLAS is not
 * installed. For tests/cross/kernels only. */
#ifndef TRAINYARD_CROSS_CBLAS_H
#define TRAINYARD_CROSS_CBLAS_H

#include <stddef.h>

enum { CblasRowMajor, CblasNoTrans, CblasTrans };

/* c[m][n] = alpha · a[m][k] × b[k][n] + beta · c */
static inline void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                               const float *a, int a_row, const float *b, int b_row, float beta,
                               float *c, int c_row)
{
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            float sum = 0, *to = c + i * (size_t)c_row + j;
            for (size_t l = 0; l < (size_t)k; l++)
                sum += a[turn_a == CblasTrans ? l * (size_t)a_row + i : i * (size_t)a_row + l] *
                       b[turn_b == CblasTrans ? j * (size_t)b_row + l : l * (size_t)b_row + j];
            *to = alpha * sum + (beta != 0 ? beta * *to : 0);
        }
}

static inline void openblas_set_num_threads(int threads)
{
}

#endif

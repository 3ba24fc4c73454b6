/* What train/kernels/blas.c must know of OpenBLAS to be compiled, for a processor whose OpenBLAS is
 * not installed: there it is not found when it is loaded, and plain loops are taken. For
 * tests/cross/kernels only. */
#ifndef TRAINYARD_TESTS_CROSS_CBLAS_H
#define TRAINYARD_TESTS_CROSS_CBLAS_H

enum { CblasRowMajor, CblasNoTrans, CblasTrans };

void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int a_row, const float *b, int b_row, float beta, float *c,
                 int c_row);

#endif

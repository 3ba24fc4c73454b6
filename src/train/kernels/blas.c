/* Implements the matrix products and loads OpenBLAS at run time; see blas.h. If the program were
 * linked with OpenBLAS, the library would start one thread per core before main() runs. With
 * limited memory some of these threads cannot be created, and the process would hang at its exit,
 * because OpenBLAS waits for all of them. The environment variable OPENBLAS_NUM_THREADS prevents
 * this only if it is set before the library is loaded. */
#include "train/kernels/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libopenblas.so.0"

/* Names the library in a section of the program, so that tools/image copies it into an image. */
static const char loaded_later[] __attribute__((used, section(".trainyard.loads"))) = LIBRARY;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static typeof(cblas_sgemm) *sgemm;
static char missing[256]; /* why OpenBLAS cannot be loaded */

/* A constructor runs before main(), when there are no other threads. setenv() is only safe while no
 * other thread reads the environment. */
__attribute__((constructor)) static void blas_limit_threads(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static void load_blas(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library)
        sgemm = (typeof(sgemm))dlsym(library, "cblas_sgemm");
    if (!sgemm) {
        const char *why = dlerror();
        snprintf(missing, sizeof(missing), "%s", why ? why : LIBRARY " cannot be loaded");
    }
}

void blas_product_ref(const struct product *p, const float *a, const float *b, float *c)
{
    size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    for (size_t i = 0; i < m; i++) {
        float *row = c + i * n;
        if (!p->add)
            memset(row, 0, n * sizeof(*row));
        for (size_t t = 0; t < k; t++) {
            float factor = p->a_transposed ? a[t * m + i] : a[i * k + t];
            for (size_t j = 0; j < n; j++)
                row[j] += factor * (p->b_transposed ? b[j * k + t] : b[t * n + j]);
        }
    }
}

void blas_product(const struct product *p, const float *a, const float *b, float *c)
{
    pthread_once(&once, load_blas);
    if (!sgemm) {
        blas_product_ref(p, a, b, c);
        return;
    }
    sgemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
          p->b_transposed ? CblasTrans : CblasNoTrans, p->m, p->n, p->k, 1, a,
          p->a_transposed ? p->m : p->k, b, p->b_transposed ? p->k : p->n, p->add ? 1 : 0, c, p->n);
}

const char *blas_missing(void)
{
    pthread_once(&once, load_blas);
    return sgemm ? NULL : missing;
}

/* Implements SHA-256 of data that is added piece by piece; see tls.h. */
#include "tls/tls.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

struct tls_sha256 {
    EVP_MD_CTX *context;
};

/* Aborts if an OpenSSL call failed. With SHA-256, the calls fail only if memory runs out. */
static void sha256_require(bool done)
{
    if (!done)
        abort();
}

struct tls_sha256 *tls_sha256_new(void)
{
    struct tls_sha256 *sum = mem_calloc(1, sizeof(*sum));
    sum->context = EVP_MD_CTX_new();
    sha256_require(sum->context && EVP_DigestInit_ex(sum->context, EVP_sha256(), NULL));
    return sum;
}

void tls_sha256_add(struct tls_sha256 *sum, const void *data, size_t size)
{
    sha256_require(EVP_DigestUpdate(sum->context, data, size));
}

void tls_sha256_end(struct tls_sha256 *sum, char ret[TLS_SHA256_TEXT])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    sha256_require(EVP_DigestFinal_ex(sum->context, bytes, &size) &&
                   size == (TLS_SHA256_TEXT - 1) / 2);
    for (unsigned i = 0; i < size; i++)
        snprintf(ret + (size_t)2 * i, 3, "%02x", bytes[i]);
}

struct tls_sha256 *tls_sha256_free(struct tls_sha256 *sum)
{
    if (sum)
        EVP_MD_CTX_free(sum->context);
    free(sum);
    return NULL;
}

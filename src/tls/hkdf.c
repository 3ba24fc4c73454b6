/* Implements HKDF-SHA256 (RFC 5869); see tls.h. comm/ derives the key of each connection from the
 * secret of the job. */
#include "tls/tls.h"

#include "tls/openssl_err.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

int tls_hkdf(const void *secret, size_t secret_size, const void *salt, size_t salt_size,
             const void *info, size_t info_size, unsigned char ret[TLS_KEY_SIZE], struct err *err)
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_size),
        OSSL_PARAM_construct_end(),
    };
    int made = context ? EVP_KDF_derive(context, ret, TLS_KEY_SIZE, params) : 0;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return made > 0 ? 0 : openssl_err_set(err, ERR_INTERNAL, "cannot derive a key");
}

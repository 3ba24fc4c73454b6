/* Implements HMAC-SHA256; see tls.h. The engine signs the tokens of service accounts with it. cli/
 * passes tls_hmac() to the engine in a callback, so that the engine does not depend on OpenSSL. */
#include "tls/tls.h"

#include "tls/openssl_err.h"

#include <openssl/hmac.h>

int tls_hmac(const void *key, size_t key_size, const void *data, size_t size,
             unsigned char ret[TLS_HMAC_SIZE], struct err *err)
{
    unsigned made = 0;
    if (!HMAC(EVP_sha256(), key, (int)key_size, data, size, ret, &made) || made != TLS_HMAC_SIZE)
        return openssl_err_set(err, ERR_INTERNAL, "cannot sign %zu bytes", size);
    return 0;
}

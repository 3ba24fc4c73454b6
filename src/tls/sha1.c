/* Implements SHA-1 for the handshake of WebSocket; see tls.h. */
#include "tls/tls.h"

#include "tls/openssl_err.h"

#include <openssl/evp.h>

int tls_sha1(const void *data, size_t size, unsigned char ret[TLS_SHA1_SIZE], struct err *err)
{
    unsigned made = 0;
    if (!EVP_Digest(data, size, ret, &made, EVP_sha1(), NULL) || made != TLS_SHA1_SIZE)
        return openssl_err_set(err, ERR_INTERNAL, "cannot compute the SHA-1 of %zu bytes", size);
    return 0;
}

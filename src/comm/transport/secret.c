/* Implements the job secret and proofs of it; see secret.h. */
#include "comm/transport/secret.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

int secret_from_environment(struct buf *ret, struct err *err)
{
    const char *text = getenv("TRAINYARD_JOB_SECRET"), *path = getenv("TRAINYARD_JOB_SECRET_FILE");
    if (text) {
        if (strlen(text) > SECRET_MAX)
            return err_set(err, ERR_TOO_LARGE, "TRAINYARD_JOB_SECRET is longer than %d bytes",
                           SECRET_MAX);
        buf_append_str(ret, text);
    } else if (path) {
        int result = file_read(path, ret, err);
        if (result < 0)
            return err ? err_wrap(err, "TRAINYARD_JOB_SECRET_FILE") : result;
        while (ret->size && strchr("\r\n", ret->data[ret->size - 1]))
            ret->data[--ret->size] = '\0';
    } else {
        return 0;
    }
    if (ret->size == 0 && text)
        return err_set(err, ERR_INVALID,
                       "TRAINYARD_JOB_SECRET is empty: set it to the job secret, or unset it");
    if (ret->size == 0)
        return err_set(err, ERR_INVALID,
                       "the job secret file '%s' is empty: write the job secret to it, or unset "
                       "TRAINYARD_JOB_SECRET_FILE",
                       path);
    return 0;
}

void secret_hash(const void *data, size_t size, uint8_t ret[SECRET_MAC_SIZE])
{
    if (!EVP_Digest(data, size, ret, NULL, EVP_sha256(), NULL))
        mem_panic("OpenSSL has no SHA-256");
}

void secret_mac(const char *key, size_t key_size, const char *label, const void *first,
                size_t first_size, const void *second, size_t second_size,
                uint8_t ret[SECRET_MAC_SIZE])
{
    /* The HMAC includes the sizes, so that no two pairs of pieces give the same input. */
    const uint64_t sizes[2] = {htole64(first_size), htole64(second_size)};
    size_t label_size = strlen(label) + 1;
    size_t size = label_size + sizeof(sizes) + first_size + second_size;
    _cleanup_free_ uint8_t *message = mem_alloc(size);
    uint8_t *at = mempcpy(message, label, label_size);
    at = mempcpy(at, sizes, sizeof(sizes));
    at = mempcpy(at, first, first_size);
    memcpy(at, second, second_size);
    if (!HMAC(EVP_sha256(), key, (int)key_size, message, size, ret, NULL))
        mem_panic("OpenSSL has no HMAC");
}

bool secret_mac_equal(const uint8_t a[SECRET_MAC_SIZE], const uint8_t b[SECRET_MAC_SIZE])
{
    return CRYPTO_memcmp(a, b, SECRET_MAC_SIZE) == 0;
}

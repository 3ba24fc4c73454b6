/* The client certificate of an HTTP client, read again when its files change; see certificate.h. */
#include "net/http/certificate.h"

#include "base/mem.h"

#include <stdlib.h>

enum { CHECK_MS = 5000, PEM_MAX = 1024 * 1024 };

static const int64_t NEVER = INT64_MIN / 2;

static char *certificate_copy(const char *text)
{
    return text ? mem_strdup(text) : NULL;
}

void http_certificate_init(struct http_certificate *certificate, const struct tls_pair *pair,
                           const char *cert_path, const char *key_path)
{
    *certificate = (struct http_certificate){
        .pair = {.cert_pem = certificate_copy(pair->cert_pem),
                 .key_pem = certificate_copy(pair->key_pem)},
        .cert_path = certificate_copy(cert_path),
        .key_path = certificate_copy(key_path),
        .checked_ms = NEVER,
    };
}

void http_certificate_release(struct http_certificate *certificate)
{
    tls_pair_release(&certificate->pair);
    free(certificate->cert_path);
    free(certificate->key_path);
    *certificate = (struct http_certificate){0};
}

static char *read_pem(const char *path)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, PEM_MAX);
    return file_read(path, &text, NULL) < 0 ? NULL : mem_strndup(text.data, text.size);
}

static bool read_pair(struct http_certificate *certificate)
{
    struct tls_pair pair = {.cert_pem = read_pem(certificate->cert_path),
                            .key_pem = read_pem(certificate->key_path)};
    if (!pair.cert_pem || !pair.key_pem || tls_pair_check(&pair, NULL) < 0) {
        tls_pair_release(&pair);
        return false;
    }
    tls_pair_release(&certificate->pair);
    certificate->pair = pair;
    return true;
}

const struct tls_pair *http_certificate_get(struct http_certificate *certificate, int64_t now_ms)
{
    struct file_stamp cert, key;
    if (!certificate->cert_path || !certificate->key_path ||
        now_ms - certificate->checked_ms < CHECK_MS)
        return &certificate->pair;
    certificate->checked_ms = now_ms;
    if (file_stamp_get(certificate->cert_path, &cert) &&
        file_stamp_get(certificate->key_path, &key) &&
        !(file_stamp_eq(&cert, &certificate->cert_stamp) &&
          file_stamp_eq(&key, &certificate->key_stamp)) &&
        read_pair(certificate)) {
        certificate->cert_stamp = cert;
        certificate->key_stamp = key;
    }
    return &certificate->pair;
}

void http_certificate_mark_rejected(struct http_certificate *certificate)
{
    certificate->checked_ms = NEVER;
}

/* The client certificate of an HTTP client, with its key. Other programs renew the files before the
 * certificate expires, so the files are read again after one of them has changed. A new pair is
 * used only if certificate and key belong together. As in bearer.h, the files are checked at most
 * once per 5 s (the check interval), or earlier after a rejection of the certificate. */
#ifndef TRAINYARD_NET_HTTP_CERTIFICATE_H
#define TRAINYARD_NET_HTTP_CERTIFICATE_H

#include "base/system/file.h"
#include "tls/tls.h"

#include <stdint.h>

struct http_certificate {
    struct tls_pair pair;       /* as PEM; its members are NULL if there is no certificate */
    char *cert_path, *key_path; /* NULL: the pair does not come from files */
    int64_t checked_ms;         /* time of the last check of the files */
    struct file_stamp cert_stamp, key_stamp; /* versions of the files that were read last */
};

/* Copies `pair`, whose members may both be NULL. Both paths may be NULL. `pair` is used until the
 * files can be read. */
void http_certificate_init(struct http_certificate *certificate, const struct tls_pair *pair,
                           const char *cert_path, const char *key_path);
void http_certificate_release(struct http_certificate *certificate);

/* Returns the current pair. Returns the previous pair if a file is missing or incomplete, or if
 * only one of the two files is renewed so far. The pointer is valid until the next call. */
const struct tls_pair *http_certificate_get(struct http_certificate *certificate, int64_t now_ms);

/* To be called when the server has rejected the certificate. The next http_certificate_get() then
 * checks the files even if the check interval has not passed. */
void http_certificate_mark_rejected(struct http_certificate *certificate);

#endif

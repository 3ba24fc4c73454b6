/* The client certificate of an HTTP client, with its key. Other programs renew the files
 * (certificates of kubelet and kubeadm live for a year, others for an hour), so the files are read
 * again when one has changed, and used when certificate and key belong together. As in bearer.h,
 * the files are checked at most once per interval. */
#ifndef TRAINYARD_NET_HTTP_CERTIFICATE_H
#define TRAINYARD_NET_HTTP_CERTIFICATE_H

#include "base/system/file.h"
#include "tls/tls.h"

#include <stdint.h>

struct http_certificate {
    struct tls_pair pair;       /* PEM; NULL members: no certificate */
    char *cert_path, *key_path; /* NULL: the pair never changes */
    int64_t checked_ms;
    struct file_stamp cert_stamp, key_stamp; /* versions of the files that were read last */
};

/* The pair, or both paths, may be NULL. The given pair is used until the files can be read. */
void http_certificate_init(struct http_certificate *certificate, const struct tls_pair *pair,
                           const char *cert_path, const char *key_path);
void http_certificate_release(struct http_certificate *certificate);

/* The current pair. If the files are missing or incomplete, or do not belong together because only
 * one of them is renewed yet, the last good pair stays. */
const struct tls_pair *http_certificate_get(struct http_certificate *certificate, int64_t now_ms);

/* The server rejected the certificate: the next http_certificate_get() checks the files, however
 * short ago the last check was. */
void http_certificate_mark_rejected(struct http_certificate *certificate);

#endif

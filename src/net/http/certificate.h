/* The certificate that an HTTP client shows, with its key. Whoever renews them writes the files
 * anew under us (kubelet's and kubeadm's certificates live for a year, others for an hour), so they
 * are read again when one has changed, and taken when both belong together. As with http_bearer.h:
 * at most one look at the files in some seconds. */
#ifndef TRAINYARD_NET_HTTP_CERTIFICATE_H
#define TRAINYARD_NET_HTTP_CERTIFICATE_H

#include "base/system/file.h"
#include "tls/tls.h"

#include <stdint.h>

struct http_certificate {
    struct tls_pair pair;       /* PEM; NULLs: none */
    char *cert_path, *key_path; /* NULL: the pair never changes */
    int64_t checked_ms;
    struct file_stamp cert_stamp, key_stamp; /* of what was read last */
};

/* All may be NULL, two and two. The given pair is shown until the files can be read. */
void http_certificate_init(struct http_certificate *certificate, const struct tls_pair *pair,
                           const char *cert_path, const char *key_path);
void http_certificate_release(struct http_certificate *certificate);

/* The pair to show now. Files that are away, half written or do not belong together, because only
 * one of them was renewed yet, change nothing. */
const struct tls_pair *http_certificate_get(struct http_certificate *certificate, int64_t now_ms);

/* The server did not accept it: look at the files the next time, however soon that is. */
void http_certificate_mark_rejected(struct http_certificate *certificate);

#endif

/* The https transport: libcurl's multi interface on the loop, connections reused. */
#ifndef TRAINYARD_NET_HTTP_CLIENT_H
#define TRAINYARD_NET_HTTP_CLIENT_H

#include "loop/loop.h"
#include "net/http.h"

struct http_client_options {
    const char *base_url;           /* "https://127.0.0.1:6443" */
    const char *ca_pem;             /* trust only this; NULL: the machine's */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    const char *cert_file,
        *key_file;           /* read again when they change; go before the above; or NULL */
    const char *bearer;      /* token, or NULL */
    const char *bearer_file; /* read again when it changes; goes before bearer; or NULL */
    bool insecure;           /* do not verify the server (insecure-skip-tls-verify) */
};

int http_client_new(struct loop *loop, const struct http_client_options *options,
                    struct http_transport **ret, struct err *err);

#endif

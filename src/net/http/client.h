/* The https transport: libcurl's multi interface on the loop, connections reused. */
#ifndef TRAINYARD_NET_HTTP_CLIENT_H
#define TRAINYARD_NET_HTTP_CLIENT_H

#include "loop/loop.h"
#include "net/http/http.h"

struct http_client_options {
    const char *base_url;           /* "https://127.0.0.1:6443" */
    const char *ca_pem;             /* trust only this; NULL: the machine's */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    const char *cert_file,
        *key_file;                   /* read again when they change; go before the above; or NULL */
    const char *bearer;              /* token, or NULL */
    const char *bearer_file;         /* read again when it changes; goes before bearer; or NULL */
    const char *username, *password; /* where there is no token; or NULL */
    const char *server_name; /* in the server's certificate, where it is not the URL's; or NULL */
    const char *proxy;       /* for every request; NULL: what the environment says */
    const struct http_header *headers; /* of every request, too; or NULL */
    bool insecure;                     /* do not verify the server (insecure-skip-tls-verify) */
    /* An answer was 401, and is told next; or NULL. May do whatever a listener may. */
    void (*on_unauthorized)(void *context);
    void *context;
};

int http_client_new(struct loop *loop, const struct http_client_options *options,
                    struct http_transport **ret, struct err *err);

/* From the next request on: another token, and another certificate with its key, or NULL. */
void http_client_set_credential(struct http_transport *transport, const char *bearer,
                                const char *cert_pem, const char *key_pem);

#endif

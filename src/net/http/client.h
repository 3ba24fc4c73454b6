/* The HTTP client: a transport for http and https that runs libcurl's multi interface on the loop.
 * Connections are reused. */
#ifndef TRAINYARD_NET_HTTP_CLIENT_H
#define TRAINYARD_NET_HTTP_CLIENT_H

#include "loop/loop.h"
#include "net/http/http.h"

struct http_client_options {
    const char *base_url; /* "https://127.0.0.1:6443" */
    const char *ca_pem;   /* trusted certificate authorities; NULL: the machine's authorities */
    const char *cert_pem, *key_pem; /* the client certificate and its key, or NULL */
    /* Files with the client certificate and its key, or NULL. They are read again after they have
     * changed (certificate.h), and take precedence over cert_pem and key_pem. */
    const char *cert_file, *key_file;
    const char *bearer; /* the bearer token, or NULL */
    /* File with the bearer token, or NULL. It is read again after it has changed (bearer.h), and
     * takes precedence over `bearer`. */
    const char *bearer_file;
    const char *username, *password; /* basic authentication, if there is no token; or NULL */
    const char *server_name; /* name in the server's certificate, if it differs from the host of the
                                URL; or NULL */
    const char *proxy; /* proxy for every request; NULL: the proxy of the environment variables, or
                          no proxy if the server is on the loopback interface */
    const struct http_header *headers; /* added to every request; or NULL */
    bool insecure; /* do not verify the server's certificate (insecure-skip-tls-verify) */
    /* Called when the status of a response is 401, before on_head. May be NULL. Like a callback of
     * struct http_callbacks, it may start and cancel calls and free the transport. */
    void (*on_unauthorized)(void *context);
    void *context; /* argument of on_unauthorized */
};

/* Creates a transport. Copies the options. Returns 0, -ERR_INVALID if an option is invalid,
 * -ERR_UNSUPPORTED in simulation, or another error. */
int http_client_new(struct loop *loop, const struct http_client_options *options,
                    struct http_transport **ret, struct err *err);

/* Replaces the token and the client certificate for later requests. The files of the options are no
 * longer read. `bearer` may be NULL; cert_pem and key_pem may both be NULL. */
void http_client_set_credential(struct http_transport *transport, const char *bearer,
                                const char *cert_pem, const char *key_pem);

#endif
